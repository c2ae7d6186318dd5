import { describe, expect, it } from 'vitest';
import { alfworld } from '../../../src/benchmarks/alfworld/alfworld.ts';
import { DataFiles } from '../../../src/benchmarks/data/data-files.ts';
import { tempFolder } from '../../support/temp-folder.ts';

describe('the games of ALFWorld', () => {
  const TRIAL = 'pick_cool_then_place_in_recep-Tomato-None-Desk-6/trial_T1';
  const game = (more: object = {}) => JSON.stringify({ pddl_domain: '', solvable: true, ...more });
  const settings = alfworld.settings.parse({});
  const read = (root: string, value: unknown) => {
    const files = new DataFiles([root]);
    const reader = { files, keep: () => Promise.reject(new Error('none')) };
    return Promise.resolve(alfworld.readRow({ value, where: 'row' }, reader, settings)).then((row) =>
      alfworld.item.parse(row),
    );
  };

  it.each([
    ['as it is named', 'json_2.1.1/train'],
    ['below a folder of another name', 'json_2.1.3/train'],
    ['below the split alone', 'train'],
    ['in a folder of nobody’s expectation', 'a/b/c'],
  ])('are found %s', async (_, folder) => {
    using data = tempFolder({ [`${folder}/${TRIAL}/game.tw-pddl`]: game({ walkthrough: ['look'] }) });
    const gamefile = `/home/other/json_2.1.1/train/${TRIAL}/game.tw-pddl`;
    const item = await read(data.path, { id: 'tomato', gamefile, task_type: 'pick_cool_then_place_in_recep' });
    expect(item).toEqual({
      id: 'tomato',
      game: `${folder}/${TRIAL}/game.tw-pddl`,
      gameSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      taskType: 'pick_cool_then_place_in_recep',
      walkthrough: ['look'],
    });
    expect(await read(data.path, JSON.parse(JSON.stringify(item)))).toEqual(item); // as `bench pull` writes it
  });

  it('are refused when they are missing, changed, double, broken or unsolvable', async () => {
    using data = tempFolder({
      [`x/a/${TRIAL}/game.tw-pddl`]: game(),
      [`x/b/${TRIAL}/game.tw-pddl`]: game(),
      'ok/t/game.tw-pddl': game(),
      'broken/t/game.tw-pddl': 'no json',
      'unsolvable/t/game.tw-pddl': game({ solvable: false }),
    });
    const why = (row: object) => read(data.path, row).then(String, ({ message }: Error) => message);
    expect(await why({ id: 'x' })).toContain('names no game');
    expect(await why({ gamefile: 'none/t/game.tw-pddl' })).toContain('extras.dataRoot');
    expect(await why({ gamefile: '../../etc/passwd' })).toContain('is not in');
    expect(await why({ gamefile: `train/${TRIAL}/game.tw-pddl` })).toContain('more than once');
    expect(await why({ game: 'ok/t/game.tw-pddl', gameSha256: '0'.repeat(64) })).toContain('has changed');
    expect(await why({ gamefile: 'broken/t/game.tw-pddl' })).toContain('no JSON object');
    expect(await why({ gamefile: 'unsolvable/t/game.tw-pddl' })).toContain('cannot be solved');
  });

  it('are found in a download with their splits, apart from those that cannot be played', async () => {
    using data = tempFolder({
      [`json_2.1.1/train/${TRIAL}/game.tw-pddl`]: game(),
      [`json_2.1.1/train/${TRIAL}/traj_data.json`]: '{}',
      'json_2.1.1/valid_seen/look_at_obj_in_light-A/t/game.tw-pddl': game(),
      'json_2.1.1/valid_unseen/pick_two_obj_and_place-B/t/game.tw-pddl': game(),
      'json_2.1.1/train/pick_and_place_with_movable_recep-C/t/game.tw-pddl': game(),
      'json_2.1.1/train/pick_and_place_simple-AppleSliced/t/game.tw-pddl': game(),
      'json_2.1.1/train/pick_and_place_simple-D/t/game.tw-pddl': game({ solvable: false }),
      'debug/game.tw-pddl': game(),
    });
    const reader = { files: new DataFiles([data.path]), keep: () => Promise.reject(new Error('none')) };
    const rows = await alfworld.findRows!(reader);
    expect(rows.map(({ split, where }) => [split, where])).toEqual([
      ['train', `json_2.1.1/train/${TRIAL}/game.tw-pddl`],
      ['val', 'json_2.1.1/valid_seen/look_at_obj_in_light-A/t/game.tw-pddl'],
      ['test', 'json_2.1.1/valid_unseen/pick_two_obj_and_place-B/t/game.tw-pddl'],
    ]);
    expect(await read(data.path, rows[1]!.value)).toMatchObject({ taskType: 'look_at_obj_in_light' });
  });
});
