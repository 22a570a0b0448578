def step(inlets, fan, supply, dew_point):
    """Return the next (fan, supply)."""
    good = [t for t in inlets if t is not None]
    if len(good) < len(inlets) / 2:
        # cannot see enough: full cooling
        return 1.0, 16.0

    hottest = max(good)
    if hottest > 26:
        fan = fan + 0.05
        supply = supply - 0.5
    elif hottest < 24:
        fan = fan - 0.05
        supply = supply + 0.5

    fan = min(1.0, max(0.3, fan))
    supply = min(24.0, max(16.0, supply))
    if supply < dew_point + 2:
        supply = dew_point + 2
    return fan, supply
