/** Returns a profile with some texts replaced. */
export function car(...changes: [string, string][]): string {
  let text = `profile: 1
name: car
buses:
  - { name: body, dbc: [car.dbc] }
constants:
  energies.Electric.subType: ElectricEnergy
status:
  kinetic.speed:
    - { signal: MOTION.Speed, timeout: 5s, failover: 2s }
    - { signal: ABS.Speed, scale: 0.1, offset: -1, timeout: 1m }
  environment.air.temp: { signal: CLIMATE.Temp, invalid: [255, 0xFE] }
  doorsState.lockedStates: { signal: BODY.Lock, map: { 0: [Unlocked], 0x1: [Locked] } }
  energies.Electric.extension.electric.charging.chargingMode: { signal: CHARGE.Mode, map: { 0: No, 1: Slow } }
  wipingBlades.active: { signal: BODY.Wipers }
telemetry:
  default: { interval: 2s }
  kinetic.speed: { deadBand: 0.5, heartbeat: 1m }
commands:
  doors:
    lock:
      send: { message: CMD, signals: { Lock: 1 }, every: 50ms, for: 500ms, counter: N, checksum: { signal: C, method: sum } }
      confirm: { path: doorsState.lockedStates, includes: Locked }
      within: 5s
`;
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`the profile has no ${from}`);
    text = text.replace(from, to);
  }
  return text;
}
