export function EventsScreen(_: Record<string, unknown>) {
  return <p className="note">Events</p>;
}
