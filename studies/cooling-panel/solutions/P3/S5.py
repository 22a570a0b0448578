FAN_STEP, AIR_STEP = 0.05, 0.5


def step(inlets, fan, supply, dew_point):
    """Return the next (fan, supply)."""
    believed = [t for t in inlets if t is not None and 5 < t < 60]
    floor = max(16.0, dew_point + 2)

    if 2 * len(believed) < len(inlets) or not believed:
        # Blind: towards full cooling, as fast as a step allows.
        want_fan, want_air = 1.0, floor
    else:
        hottest = max(believed)
        if hottest > 26.5:
            # Near the limit: everything at once.
            want_fan, want_air = 1.0, floor
        elif hottest > 26:
            cold_left = supply > floor
            want_fan = fan if cold_left else 1.0
            want_air = floor
        elif hottest < 24:
            # The fan is the dear part: slow it first, then warm the air.
            slow = fan <= 0.3
            want_fan = 0.3
            want_air = 24.0 if slow else supply
        else:
            want_fan, want_air = fan, supply

    fan += max(-FAN_STEP, min(FAN_STEP, want_fan - fan))
    supply += max(-AIR_STEP, min(AIR_STEP, want_air - supply))
    # Condensation outranks every other rule, also the size of a step.
    return min(1.0, max(0.3, fan)), max(floor, min(24.0, supply))
