export function TasksScreen(_: Record<string, unknown>) {
  return <p className="note">Tasks</p>;
}
