/** `Promise.all` that waits for every one first: replies that are on their way get kept, whatever happened to others. */
export async function settleAll<const Work extends readonly Promise<unknown>[]>(
  work: Work,
): Promise<{ -readonly [Place in keyof Work]: Awaited<Work[Place]> }> {
  await Promise.allSettled(work);
  return Promise.all(work) as Promise<{ -readonly [Place in keyof Work]: Awaited<Work[Place]> }>;
}
