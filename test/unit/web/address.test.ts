import fc from 'fast-check';
import { expect, it } from 'vitest';
import { addressTo, readAddress, runAddress } from '../../../src/web/address.ts';

it('writes the place of a view and reads it again', () => {
  const address = runAddress('demo', ['tasks'], { filter: 'worse', task: 'q 12', cursor: '' });
  expect(address).toBe('#/runs/demo/tasks?filter=worse&task=q+12');
  expect(readAddress(address)).toEqual({ path: ['runs', 'demo', 'tasks'], query: { filter: 'worse', task: 'q 12' } });
});

it('keeps names of runs, files and tasks as they are', () => {
  const name = fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => text.isWellFormed());
  fc.assert(
    fc.property(fc.array(name, { maxLength: 4 }), name, (path, task) => {
      expect(readAddress(addressTo(path, { task }))).toEqual({ path, query: { task } });
    }),
  );
});

it('reads what a person may have typed', () => {
  expect(readAddress('')).toEqual({ path: [], query: {} });
  expect(readAddress('#/runs/100%/')).toEqual({ path: ['runs', '100%'], query: {} });
  expect(readAddress('#runs//demo?')).toEqual({ path: ['runs', 'demo'], query: {} });
});
