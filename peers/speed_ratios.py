"""Ratios of speeds between two contestants, stream by stream."""

import math


def speed_ratios(results, section, contestant, other, streams):
    """How many times as fast a contestant is as another one, for the streams that both have done."""
    ratios = {}
    for stream in streams:
        this, that = (results.done(section, name, stream) for name in (contestant, other))
        if this and that:
            ratios[stream] = this.speed / that.speed
    return ratios


def geometric_mean(values):
    """The mean for ratios: that of a factor and its reciprocal is 1. None without values."""
    values = list(values)
    if not values:
        return None
    return math.exp(math.fsum(math.log(value) for value in values) / len(values))
