//! Escapes text from data for LaTeX, Markdown and XML. The templates escape HTML.

/// Escapes text so that LaTeX prints it verbatim.
pub(crate) fn latex(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(character);
            }
            '\\' => escaped += r"\textbackslash{}",
            '~' => escaped += r"\textasciitilde{}",
            '^' => escaped += r"\textasciicircum{}",
            '<' => escaped += r"\textless{}",
            '>' => escaped += r"\textgreater{}",
            '|' => escaped += r"\textbar{}",
            '"' => escaped += r"\textquotedbl{}",
            '–' => escaped += "--",
            '—' => escaped += "---",
            '…' => escaped += r"\ldots{}",
            '\n' | '\r' | '\t' | '\u{a0}' => escaped.push(' '),
            _ if character.is_control() => {}
            _ => match mathematical(character) {
                Some(command) => escaped += &format!("${command}$"),
                None => escaped.push(character),
            },
        }
    }
    escaped
}

/// The math command for a character that LaTeX's text fonts lack.
fn mathematical(character: char) -> Option<&'static str> {
    Some(match character {
        '±' => r"\pm",
        '×' => r"\times",
        '−' => "-",
        '·' => r"\cdot",
        'µ' | 'μ' => r"\mu",
        'α' => r"\alpha",
        'β' => r"\beta",
        'γ' => r"\gamma",
        'δ' => r"\delta",
        'ε' => r"\varepsilon",
        'η' => r"\eta",
        'θ' => r"\theta",
        'λ' => r"\lambda",
        'π' => r"\pi",
        'ρ' => r"\rho",
        'σ' => r"\sigma",
        'τ' => r"\tau",
        'ω' => r"\omega",
        'Δ' => r"\Delta",
        'Σ' => r"\Sigma",
        '↑' => r"\uparrow",
        '↓' => r"\downarrow",
        '→' => r"\rightarrow",
        '≤' => r"\leq",
        '≥' => r"\geq",
        '≈' => r"\approx",
        '∝' => r"\propto",
        '∞' => r"\infty",
        '†' => r"^{\dagger}",
        '₀' => "_0",
        '₁' => "_1",
        '₂' => "_2",
        '₃' => "_3",
        '₄' => "_4",
        '²' => "^2",
        '³' => "^3",
        _ => return None,
    })
}

/// Escapes text so that Markdown, including HTML in it, shows it verbatim on one line.
pub(crate) fn markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '\n' | '\r' | '\t' => escaped.push(' '),
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '#' | '~' | '$' | '!' => {
                escaped.push('\\');
                escaped.push(character);
            }
            _ if character.is_control() => {}
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Escapes text for XML, and so for SVG.
pub(crate) fn xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            // XML cannot represent these characters.
            '\u{fffe}' | '\u{ffff}' => {}
            _ if character.is_control() => escaped.push(' '),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latex_prints_every_special_character() {
        assert_eq!(latex(r"\{}"), r"\textbackslash{}\{\}");
        assert_eq!(latex("50% & $5 #1 a_b"), r"50\% \& \$5 \#1 a\_b");
        assert_eq!(latex("~^"), r"\textasciitilde{}\textasciicircum{}");
        assert_eq!(
            latex("<a|\"b\">"),
            r"\textless{}a\textbar{}\textquotedbl{}b\textquotedbl{}\textgreater{}"
        );
        assert_eq!(
            latex("5 ± 1 µs, λ ≤ 2 – ↑"),
            r"5 $\pm$ 1 $\mu$s, $\lambda$ $\leq$ 2 -- $\uparrow$"
        );
        assert_eq!(latex("a\u{7}\nb"), "a b");
    }

    #[test]
    fn markdown_escapes_cell_separators_and_tags() {
        assert_eq!(markdown("a|b <script>\n*x*"), r"a\|b &lt;script&gt; \*x\*");
    }

    #[test]
    fn xml_has_no_forbidden_character() {
        assert_eq!(xml("<a b='c'>&\u{1}\u{ffff}"), "&lt;a b=&#39;c&#39;&gt;&amp; ");
    }
}
