//! The columns of a table that inputs stand for.

use std::collections::HashMap;

use super::{Input, InputKind};

impl Input {
    /// The name of the column that the input stands for: the category `city=Rome` is one of column
    /// `city`, and any other input is a column of its own. The name of a column of categories ends
    /// before the first `=`.
    ///
    /// ```
    /// use broadstream::{Input, InputKind};
    ///
    /// let input = |name: &str, kind| Input { name: name.to_owned(), kind };
    /// assert_eq!(input("city=Rome", InputKind::Indicator).column(), "city");
    /// assert_eq!(input("size=big", InputKind::Numeric).column(), "size=big");
    /// ```
    pub fn column(&self) -> &str {
        match (self.kind, self.name.split_once('=')) {
            (InputKind::Indicator, Some((column, _))) => column,
            _ => &self.name,
        }
    }
}

/// The column of each of a model's inputs. Columns are numbered in the order in which their first
/// inputs were declared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    /// For each input the number of its column.
    of_inputs: Vec<u32>,
    names: Vec<String>,
    /// The number of inputs of each column.
    inputs: Vec<u32>,
    numbers: HashMap<String, u32>,
}

impl Columns {
    /// The number of columns.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// The name of each column.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// The column of an input.
    pub(crate) fn of_input(&self, input: usize) -> usize {
        self.of_inputs[input] as usize
    }

    /// The number of the column of that name.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).map(|number| *number as usize)
    }

    /// Adds the next input.
    pub(crate) fn push(&mut self, input: &Input) {
        let name = input.column();
        let number = match self.numbers.get(name) {
            Some(number) => *number,
            None => {
                let number = self.names.len() as u32;
                self.names.push(name.to_owned());
                self.inputs.push(0);
                self.numbers.insert(name.to_owned(), number);
                number
            }
        };
        self.inputs[number as usize] += 1;
        self.of_inputs.push(number);
    }

    /// Removes the last input, and its column if that has no other.
    pub(crate) fn pop(&mut self) {
        let Some(number) = self.of_inputs.pop() else { return };
        self.inputs[number as usize] -= 1;
        // Columns are numbered by their first inputs, so only the last one can be without any.
        if self.inputs.pop_if(|inputs| *inputs == 0).is_some()
            && let Some(name) = self.names.pop()
        {
            self.numbers.remove(&name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(inputs: &[(&str, InputKind)]) -> Columns {
        let mut columns = Columns::default();
        for (name, kind) in inputs {
            columns.push(&Input { name: (*name).to_owned(), kind: *kind });
        }
        columns
    }

    #[test]
    fn the_categories_of_a_column_belong_together() {
        use InputKind::{Indicator, Numeric};
        let mut found = columns(&[
            ("age", Numeric),
            ("city=Rome", Indicator),
            ("a=b", Numeric),
            ("city=a=b", Indicator),
            ("flag", Indicator),
            ("city=", Indicator),
        ]);
        assert_eq!(found.names(), ["age", "city", "a=b", "flag"]);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|input| found.of_input(input)), [0, 1, 2, 1, 3, 1]);
        assert_eq!((found.number("city"), found.number("Rome")), (Some(1), None));
        let lengths = [(); 7].map(|()| {
            found.pop();
            found.len()
        });
        assert_eq!(lengths, [4, 3, 3, 2, 1, 0, 0], "inputs are withdrawn in reverse order");
        assert_eq!(found.number("age"), None);
    }
}
