"""The least supermartingale above a payoff, for every accuracy: docs/certified.md, section 4.

All is compiled: every state of a table is visited for each of some hundreds of accuracies.
"""

import numpy as np

from topk.compiled import compiled

FLOOR = 1e-140  # least payoff

# As in kernels: dividing by zero gives infinity.


@compiled
def search_envelope(  # type: ignore[no-untyped-def]
    questions, least, start, low, high, inner, outer, bent_in, bent_out, bend, pay_in, pay_out
):
    """Return e^(t price) of every state, inside and outside: the largest over all cells (3.1)."""
    inside, outside = np.zeros(pay_in.size), np.zeros(pay_in.size)
    value = np.empty(pay_in.size)
    for cell in range(low.size):
        # Values are divided by the e^(t loss) of the cell, which their ratio does not see.
        shift = max(inner[cell], outer[cell])
        as_in, as_out = np.exp(inner[cell] - shift), np.exp(outer[cell] - shift)
        if questions:
            _envelope_of_set(start, questions, cell, as_in, as_out, pay_in, pay_out, value)
        else:
            ends = (low[cell], high[cell])
            least_envelope(least, start, ends, as_in, as_out, pay_in, pay_out, value)
        from_in = value[0] * np.exp(inner[cell] + bent_in[cell])
        from_out = value[0] * np.exp(outer[cell] + bent_out[cell])
        for m in range(least.size):
            slack = np.exp(m * bend[cell])
            if_in, if_out = from_in * slack, from_out * slack
            begin, end = start[m], start[m + 1]
            if questions:
                # On a set, so many right answers are possible with ``cell`` right ones in all.
                begin, end = begin + max(0, m - questions + cell), begin + min(m, cell) + 1
            _raise_envelope(inside[begin:end], outside[begin:end], value[begin:end], if_in, if_out)
    return inside, outside


@compiled
def _raise_envelope(inside, outside, values, if_in, if_out):  # type: ignore[no-untyped-def]
    """Raise both tables to the start over the value if that is more. No branch, as below."""
    for i in range(values.size):
        part = 1.0 / values[i]
        inner, outer = if_in * part, if_out * part
        inside[i] = inner if inner > inside[i] else inside[i]
        outside[i] = outer if outer > outside[i] else outside[i]


@compiled
def _last_envelope(start, as_in, as_out, pay_in, pay_out, value):  # type: ignore[no-untyped-def]
    """Set the values at the horizon to the payoff, raised to FLOOR, which makes all values
    positive.
    """
    for i in range(start[-2], start[-1]):
        value[i] = max(as_in * pay_in[i], as_out * pay_out[i], FLOOR)


@compiled
def least_envelope(  # type: ignore[no-untyped-def]
    least, start, ends, as_in, as_out, pay_in, pay_out, value
):
    """Set value to the least supermartingale above the payoff, from the horizon to no answer (4.2).

    States beyond the edge of the band count as at it: the value there is at least that of any state
    that may follow (4.6).
    """
    low, high = ends
    _last_envelope(start, as_in, as_out, pay_in, pay_out, value)
    for m in range(least.size - 2, -1, -1):
        begin, end, stop = start[m], start[m + 1], start[m + 2]
        moved, first, final = least[m + 1] - least[m], value[end], value[stop - 1]
        inner = begin + moved  # the first state from which both that may follow are there
        width = min(end - inner, stop - end - 1)
        _earlier_row(
            *(value[inner : inner + width], value[end : end + width], value[end + 1 : stop]),
            *(pay_in[inner : inner + width], pay_out[inner : inner + width]),
            *(low, high, as_in, as_out),
        )
        if least[m + 1] > 0:
            ins, outs = as_in * pay_in[begin], as_out * pay_out[begin]
            value[begin] = _edge_value(value[begin], moved, ins, outs, first)
        if least[m + 1] + stop - end - 1 < m + 1:
            ins, outs = as_in * pay_in[end - 1], as_out * pay_out[end - 1]
            value[end - 1] = _edge_value(value[end - 1], inner + width < end, ins, outs, final)


@compiled
def _earlier_row(row, wrong, right, pay_in, pay_out, low, high, as_in, as_out):  # type: ignore[no-untyped-def]
    """Set the row of one answer earlier. Plain loops over whole arrays become vector instructions.

    wrong, right  the values after such an answer
    """
    for s in range(row.size):
        step = right[s] - wrong[s]
        one, other = wrong[s] + low * step, wrong[s] + high * step
        mean = one if one > other else other
        inner, outer = as_in * pay_in[s], as_out * pay_out[s]
        pay = inner if inner > outer else outer
        row[s] = mean if mean > pay else pay


@compiled
def _edge_value(inner_value, fixed, inner, outer, beyond):  # type: ignore[no-untyped-def]
    """Return the value at the edge: the largest of the inner value, the payoffs, and the value
    beyond.
    """
    found = 0.0 if fixed else inner_value
    return max(found, inner, outer, beyond)


@compiled
def _envelope_of_set(  # type: ignore[no-untyped-def]
    start, questions, right, as_in, as_out, pay_in, pay_out, value
):
    """Do the same for ``right`` right answers on the whole set: drawn without replacement (6.1)."""
    _last_envelope(start, as_in, as_out, pay_in, pay_out, value)
    for m in range(start.size - 3, -1, -1):
        begin, end, left = start[m], start[m + 1], 1.0 / (questions - m)
        row, after = value[begin:end], value[end : start[m + 2]]
        ins, outs = pay_in[begin:end], pay_out[begin:end]
        for s in range(m + 1):
            chance = (right - s) * left
            chance = chance if chance > 0.0 else 0.0
            chance = chance if chance < 1.0 else 1.0
            mean = after[s] + chance * (after[s + 1] - after[s])
            inner, outer = as_in * ins[s], as_out * outs[s]
            pay = inner if inner > outer else outer
            row[s] = mean if mean > pay else pay
