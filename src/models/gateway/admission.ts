import { ModelCallError } from '../../core/contracts/index.ts';
import { type FirstRequest, type NamedSkill, readFirstRequest } from './first-request.ts';
import type { Fault } from './gateway-dialects.ts';
import type { GenerationCall } from './read-call.ts';
import { failureTold } from './relay-call.ts';
import type { Spending } from './spending.ts';

/** A limit that is reached, or a provider that failed. */
export type GatewayEnd = 'turns' | 'budget' | 'failure';

type Admission = {
  readonly spending: Spending;
  readonly allows: ((model: string) => boolean) | undefined;
  readonly skills: readonly NamedSkill[];
  readonly onEnd: ((reason: GatewayEnd) => void) | undefined;
};

/** Which calls may pass, and what was seen of them. */
export function openAdmission({ spending, allows, skills, onEnd }: Admission) {
  const models = new Set<string>();
  const refused = new Map<string, number>();
  let first: FirstRequest | undefined;
  let failure: ModelCallError | undefined;
  let ended: 'turns' | 'budget' | undefined;

  function end(reason: GatewayEnd, error?: ModelCallError): void {
    const isFirst = ended === undefined && failure === undefined;
    if (reason === 'failure') failure ??= error;
    else ended ??= reason;
    if (isFirst) onEnd?.(reason);
  }

  function fail(error: ModelCallError): Fault {
    end('failure', error);
    return failureTold(error);
  }

  function refuseModel(name: string): Fault {
    refused.set(name, (refused.get(name) ?? 0) + 1);
    return {
      status: 400,
      message: `The model ${name} is not the one of this run, and is not asked. No call was made.`,
    };
  }

  /** By what was spent, or because the provider has failed before. */
  function stop({ model }: GenerationCall): Fault | undefined {
    if (failure !== undefined) return failureTold(failure);
    const limit = spending.reached();
    if (limit !== undefined) {
      end(limit.ended);
      return { status: 400, message: limit.message };
    }
    const unpriced = spending.unpriced(model);
    return unpriced && fail(unpriced);
  }

  return {
    /** Why a call may not pass. */
    refuse(call: GenerationCall): Fault | undefined {
      const { model, body, dialect } = call;
      if (allows?.(model ?? '') === false) return refuseModel(model ?? '(none)');
      if (first === undefined || first.tools.length === 0) first = readFirstRequest(body, dialect, skills);
      const fault = stop(call);
      if (fault === undefined && model !== undefined) models.add(model);
      return fault;
    },
    fail,
    seen: {
      ended: () => ended,
      failure: () => failure,
      offered: () => first?.offered ?? [],
      tools: () => first?.tools ?? [],
      models: () => [...models],
      refused: () => Object.fromEntries(refused),
    },
  };
}

/** What keeps an agent waiting, from its first call on. */
export function watchSilence(name: string) {
  let silence: ModelCallError | undefined;
  return {
    silence: () => silence,
    begin() {
      silence = new ModelCallError(`${name} has not answered at all`);
    },
    onAnswer() {
      silence = undefined;
    },
    onSilence(error: ModelCallError) {
      silence = error;
    },
  };
}
