import type { Environment, Located } from '../../agents/agent-cli.ts';
import type { AgentProgram } from '../../agents/programs/agent-program.ts';
import type { AgentSignIn } from '../../core/agent/agent-runner.ts';
import type { Sandbox } from '../../core/agent/sandbox.ts';
import type { ModelGatewayOptions, Price } from '../../models/index.ts';

/** Whom the gateway asks, and with what. */
export type Upstream = ModelGatewayOptions['upstream'];

/** What a runner is made of. */
export type Agent = {
  readonly id: string;
  readonly program: AgentProgram;
  readonly located: Located;
  readonly version: string;
  readonly model: string | undefined;
  readonly sandbox: Sandbox;
  readonly scope: 'user' | 'project';
  readonly upstream: Upstream | undefined;
  readonly signIn: AgentSignIn;
  readonly price: Price | undefined;
  readonly env: Environment;
  readonly callTimeoutMs: number;
};
