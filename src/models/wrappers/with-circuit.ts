import { type ChatModel, ModelCallError } from '../../core/contracts/index.ts';

/**
 * The same model, given up on after `failures` calls in a row that no retry could mend: that is an outage, and the error
 * of the last one is fatal. One success starts the count again.
 */
export function withCircuit(model: ChatModel, failures: number): ChatModel {
  let inARow = 0;
  return {
    id: model.id,
    async complete(request) {
      try {
        const reply = await model.complete(request);
        inARow = 0;
        return reply;
      } catch (error) {
        if (!(error instanceof ModelCallError) || error.isFatal) throw error;
        inARow += 1;
        throw inARow < failures ? error : outage(error, inARow);
      }
    },
  };
}

function outage(last: ModelCallError, count: number): ModelCallError {
  const { status, hint = 'Start again when the model answers.' } = last;
  const message = `${count} calls in a row have failed; the last one: ${last.message}`;
  return new ModelCallError(message, { status, hint, isRetryable: false, isFatal: true, cause: last });
}
