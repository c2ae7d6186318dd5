export function CompareScreen(_: Record<string, unknown>) {
  return <p className="note">Compare</p>;
}
