export function NightsScreen(_: Record<string, unknown>) {
  return <p className="note">Nights</p>;
}
