import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createStop } from '../../../src/pipeline/index.ts';

describe('createStop', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('runs until told otherwise', () => {
    using stop = createStop(new AbortController().signal);
    expect([stop.signal.aborted, stop.abandon.aborted]).toEqual([false, false]);
  });

  it('stops at once and gives up later, both for the reason given', () => {
    using stop = createStop(undefined, 1_000);
    const reason = new Error('no credit');
    stop.halt(reason);
    expect(stop.signal.reason).toBe(reason);
    vi.advanceTimersByTime(999);
    expect(stop.abandon.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(stop.abandon.reason).toBe(reason);
  });

  it('gives calls in flight ten seconds unless told otherwise', () => {
    using stop = createStop();
    stop.halt('enough');
    vi.advanceTimersByTime(9_999);
    expect(stop.abandon.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(stop.abandon.aborted).toBe(true);
  });

  it('follows the signal of its user, also one that was aborted before', () => {
    const controller = new AbortController();
    using early = createStop(controller.signal);
    controller.abort('ctrl-c');
    using late = createStop(controller.signal);
    expect([early.signal.reason, late.signal.reason]).toEqual(['ctrl-c', 'ctrl-c']);
  });

  it('keeps the first reason', () => {
    const controller = new AbortController();
    using stop = createStop(controller.signal, 10);
    stop.halt('first');
    stop.halt('second');
    controller.abort('third');
    vi.advanceTimersByTime(10);
    expect([stop.signal.reason, stop.abandon.reason]).toEqual(['first', 'first']);
  });

  it('lets go of its timer and of the signal when disposed', () => {
    const controller = new AbortController();
    const stop = createStop(controller.signal, 10);
    stop.halt('over');
    stop.halt('over again');
    stop[Symbol.dispose]();
    expect(vi.getTimerCount()).toBe(0);
    const other = createStop(controller.signal);
    other[Symbol.dispose]();
    controller.abort('nobody listens');
    expect(other.signal.aborted).toBe(false);
  });
});
