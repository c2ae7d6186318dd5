import { z } from 'zod';

/** Where agents, their verifiers, and commands that judge run: by name, or in a container of this image. */
export const SandboxSpec = z.union(
  [
    z.enum(['auto', 'bubblewrap', 'none']),
    z.strictObject({ container: z.string().min(1), engine: z.enum(['docker', 'podman']).optional() }),
  ],
  'expected auto, bubblewrap, none, or { container: IMAGE }',
);
export type SandboxSpec = z.output<typeof SandboxSpec>;
