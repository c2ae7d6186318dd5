import { Option } from 'commander';

/** `--set key=value`, as often as one likes. */
export function setOption(): Option {
  return new Option('--set <key=value>', "a setting in SkillOpt's words, such as train.batch_size=20; again for more")
    .default([], 'none')
    .argParser((text: string, before: readonly string[]) => [...before, text]);
}
