import type { AgentProgram, Environment, Located } from '../../agents/index.ts';
import type { AgentSignIn, Sandbox } from '../../core/contracts/index.ts';
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
