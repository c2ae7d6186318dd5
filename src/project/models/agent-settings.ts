import { z } from 'zod';
import { AgentLimitsSpec } from '../../core/contracts/index.ts';

/** Where agents, their verifiers, and commands that judge run: by name, or in a container of this image. */
export const SandboxSpec = z.union(
  [
    z.enum(['auto', 'bubblewrap', 'none']),
    z.strictObject({ container: z.string().min(1), engine: z.enum(['docker', 'podman']).optional() }),
  ],
  'expected auto, bubblewrap, none, or { container: IMAGE }',
);
export type SandboxSpec = z.output<typeof SandboxSpec>;

/** What a project says of workspaces. */
export const WorkspaceKeys = z.strictObject({
  /** Folders of skills that the agent has besides: the user's own compete with the one that is trained. */
  neighbours: z
    .union([
      z
        .string()
        .min(1)
        .transform((one) => [one]),
      z.array(z.string().min(1)),
    ])
    .optional(),
  limits: AgentLimitsSpec.optional(),
  /** For env: trigger: how often a query is put in one attempt. */
  runs: z.number().int().positive().max(20).optional(),
});
