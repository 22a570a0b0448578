def towards(now, wanted, most):
    """Go from now towards wanted by at most one step."""
    return now + max(-most, min(most, wanted - now))


def step(inlets, fan, supply, dew_point):
    """Return the next (fan, supply)."""
    floor = max(16.0, dew_point + 2)
    # A front much colder than the air that we blow is a broken sensor.
    believed = [t for t in inlets if t is not None and supply - 4 < t < 60]
    blind = not believed or 2 * len(believed) < len(inlets)
    hottest = 99.0 if blind else max(believed)

    want_fan, want_air = fan, supply
    if hottest > 26.5:
        want_fan, want_air = 1.0, floor
    elif hottest > 26:
        # Cold air first: fans cost the third power.
        want_air = floor
        want_fan = fan if supply > floor else fan + 0.02
    elif hottest < 24:
        want_fan = 0.3
        want_air = supply if fan > 0.3 else 24.0

    fan = min(1.0, max(0.3, towards(fan, want_fan, 0.05)))
    # Condensation outranks the size of a step.
    return fan, max(floor, min(24.0, towards(supply, want_air, 0.5)))
