"""One step of the controller. It keeps no state: the same readings give the same answer."""


def limited(now, wanted, most):
    """Move from now towards wanted, by most at most."""
    return now + max(-most, min(most, wanted - now))


def step(inlets, fan, supply, dew_point):
    """Return the next (fan, supply)."""
    # Front air is never colder than what we blow, but for the error of a sensor: a
    # reading far below the supply air is a broken sensor, not a cool rack.
    believed = [t for t in inlets if t is not None and supply - 3 <= t <= 60]
    floor = max(16.0, dew_point + 2.0)
    blind = len(believed) * 2 < len(inlets) or not believed
    hottest = 99.0 if blind else max(believed)

    want_fan, want_air = fan, supply
    if hottest > 26.5:
        # Half a degree from the limit energy does not matter any more.
        want_fan, want_air = 1.0, floor
    elif hottest > 26.0:
        # Colder air is cheaper than more of it.
        if supply > floor:
            want_air = supply - 0.25
        else:
            want_fan = fan + 0.02
    elif hottest < 24.0:
        # Too cold: slow the fan down first, since it costs the third power.
        if fan > 0.3:
            want_fan = fan - 0.02
        else:
            want_air = supply + 0.25
    elif hottest < 25.0 and fan > 0.4 and supply > floor + 1:
        # All is well, but at a high speed: trade a little speed for colder air.
        want_fan, want_air = fan - 0.01, supply - 0.1

    fan = min(1.0, max(0.3, limited(fan, want_fan, 0.05)))
    supply = min(24.0, max(16.0, limited(supply, want_air, 0.5)))
    # Last, so that nothing can undo it: no condensation, whatever the size of the step.
    return fan, max(supply, dew_point + 2.0)
