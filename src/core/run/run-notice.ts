import { head } from '../text/index.ts';
import type { NoticeObserver, RunNotice } from './run-store.ts';

/** A provider may answer with a whole page. */
const LONGEST_MESSAGE = 500;

/** An observer that makes a notice of each call. */
export const noticing = (show: (notice: RunNotice) => void): Required<NoticeObserver> => ({
  onRetry: ({ error, attempt, delayMs }) =>
    show({ type: 'retry', message: head(error.message, LONGEST_MESSAGE), attempt, delayMs }),
  onRateLimit: ({ account, ...change }) => show({ type: 'rate-limit', account, change }),
  onSpend: (spent) => show({ type: 'spend', spent }),
});

/** Calls an observer as it was called there. Notices of a later version are left out. */
export function notifyOf(notice: RunNotice, observer: NoticeObserver): void {
  if (notice.type === 'retry') {
    const { message, attempt, delayMs } = notice;
    observer.onRetry?.({ error: new Error(message), attempt, delayMs });
  }
  if (notice.type === 'rate-limit') observer.onRateLimit?.({ account: notice.account, ...notice.change });
  if (notice.type === 'spend') observer.onSpend?.(notice.spent);
}
