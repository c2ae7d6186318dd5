export function DiffScreen(_: Record<string, unknown>) {
  return <p className="note">Diff</p>;
}
