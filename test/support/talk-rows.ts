import { hoursAgo } from './sleep/sleep-home.ts';

/** What a person and an agent said to each other, and the names around it. Outputs of tools are `output`. */
export type Talk = {
  readonly id: string;
  readonly cwd: string;
  readonly branch: string;
  readonly tool: string;
  readonly skill: string;
  readonly file: string;
  readonly output: string;
  readonly turns: readonly { readonly asked: string; readonly answered: string }[];
};

export const lines = (records: readonly unknown[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');

/** A moment per turn, ten minutes apart, the last one an hour ago. */
export const timeOf = ({ turns }: Talk, at: number) => hoursAgo(1 + (turns.length - at) / 6);
export const msOf = (talk: Talk, at: number) => Date.parse(timeOf(talk, at));

/** One record for each turn, in the order given. */
export const each = <Record>(talk: Talk, record: (turn: Talk['turns'][number], time: string, at: number) => Record[]) =>
  talk.turns.flatMap((turn, at) => record(turn, timeOf(talk, at), at));

export const copilotCliRows = (talks: readonly Talk[]) => ({
  sessions: talks.map((talk) => ({
    id: talk.id,
    cwd: talk.cwd,
    branch: talk.branch,
    created_at: timeOf(talk, 0),
    updated_at: hoursAgo(1),
  })),
  turns: talks.flatMap(({ id, turns }) =>
    turns.map(({ asked, answered }, at) => ({
      session_id: id,
      turn_index: at,
      user_message: asked,
      assistant_response: answered,
    })),
  ),
  session_files: talks.map(({ id, file, tool }) => ({ session_id: id, file_path: file, tool_name: tool })),
});

export function opencodeRows(talks: readonly Talk[]) {
  const messages = talks.flatMap((talk) =>
    each(talk, ({ asked, answered }, _, at) => [
      { talk, id: `${talk.id}-u${at}`, role: 'user', text: asked, ms: msOf(talk, at) },
      { talk, id: `${talk.id}-v${at}`, role: 'assistant', text: answered, ms: msOf(talk, at) + 1000 },
    ]),
  );
  const parts = messages.flatMap(({ talk, id, text, role }) => {
    const of = { message_id: id, session_id: talk.id };
    const used = (tool: string, name: string) => ({
      type: 'tool',
      tool,
      state: { input: { name }, output: talk.output },
    });
    return [
      { ...of, id: `${id}-1`, data: { type: 'text', text } },
      ...(role === 'user'
        ? []
        : [
            { ...of, id: `${id}-2`, data: used(talk.tool, '') },
            { ...of, id: `${id}-3`, data: used('skill', talk.skill) },
          ]),
    ];
  });
  return {
    session: talks.map((talk) => ({
      id: talk.id,
      parent_id: null,
      directory: talk.cwd,
      metadata: { gitBranch: talk.branch },
      time_created: msOf(talk, 0),
      time_updated: Date.now() - 3_600_000,
    })),
    message: messages.map(({ talk, id, role, ms }) => ({ id, session_id: talk.id, time_created: ms, data: { role } })),
    part: parts,
  };
}

/** One block as it is: how every compressor writes what it cannot make smaller. */
export function zst(text: string): Buffer {
  const blocks: Buffer[] = [];
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 65_536) {
    const block = bytes.subarray(at, at + 65_536);
    const header = Buffer.alloc(3);
    header.writeUIntLE((block.length << 3) | Number(at + 65_536 >= bytes.length), 0, 3);
    blocks.push(header, block);
  }
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 10 << 3]), ...blocks]);
}
