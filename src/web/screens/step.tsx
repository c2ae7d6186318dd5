export function StepScreen(_: Record<string, unknown>) {
  return <p className="note">Step</p>;
}
