def step(inlets, fan, supply, dew_point):
    """Return the next (fan, supply)."""
    floor = max(16.0, dew_point + 2.0)
    valid = [t for t in inlets if t is not None and 5 < t < 60]
    target_fan, target_supply = fan, supply
    if 2 * len(valid) < len(inlets) or not valid:
        target_fan, target_supply = 1.0, floor
    elif max(valid) > 26.5:
        target_fan, target_supply = 1.0, floor
    elif max(valid) > 26:
        target_supply = floor
        if supply <= floor:
            target_fan = 1.0
    elif max(valid) < 24:
        # Slow the fan first: it costs the third power of its speed.
        if fan > 0.3:
            target_fan = 0.3
        else:
            target_supply = 24.0
    fan += max(-0.05, min(0.05, target_fan - fan))
    supply += max(-0.5, min(0.5, target_supply - supply))
    return min(1.0, max(0.3, fan)), max(floor, min(24.0, supply))
