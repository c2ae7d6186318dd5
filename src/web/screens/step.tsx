import type { Race, RunPage, StepPage, VersionRow } from '../../core/page/index.ts';
import type { Stage } from '../../core/run/index.ts';
import { count, percent, plural, points } from '../../core/text/index.ts';
import { runAddress } from '../address.ts';
import { Answer, Facts, Section, Trouble } from '../parts/frame.tsx';
import { Lineage } from '../parts/lineage.tsx';
import { Mark } from '../parts/mark.tsx';
import { type Column, numbers, Table } from '../parts/table.tsx';
import { priceOf, scoreChange, seconds, versionName } from '../parts/words.ts';
import { useAsked, useSource } from '../state.ts';
import { Applied, Chosen, EditList, Proposals, StageColumn, TaskLinks } from './step-parts.tsx';

type StepProps = { readonly page: RunPage; readonly step: number | null };

/** One step from its training tasks to its verdict; without a number, the list of all. */
export function StepScreen({ page, step }: StepProps) {
  if (step === null)
    return (
      <div className="stack">
        <Section title="All steps, and what became of them">
          <Lineage run={page.name} versions={page.figures.versions} best={page.figures.best} to="step" />
        </Section>
      </div>
    );
  if (isStep(page, step)) return <OneStep key={step} page={page} step={step} />;
  return <Trouble message={`There is no step ${step} in this run.`} hint="The tab Steps shows all of them." />;
}

/** One that is over, or the one after it, as long as there may be more. */
function isStep({ figures: { curve, summary } }: RunPage, step: number): boolean {
  const most = (curve.at(-1)?.step ?? 0) + (summary.isDone ? 0 : 1);
  return Number.isInteger(step) && step >= 1 && step <= most;
}

function OneStep({ page, step }: { readonly page: RunPage; readonly step: number }) {
  const source = useSource();
  const { name, figures } = page;
  const versions = figures.versions.filter((one) => one.step === step && one.kind !== 'guidance' && one.index > 0);
  const last = Math.max(figures.curve.at(-1)?.step ?? 0, versions.length > 0 ? step : 0);
  const isOver = figures.curve.some((point) => point.step === step);
  const asked = useAsked(`step ${name} ${step} ${isOver || page.lines}`, () => source.step(name, step));
  return (
    <div className="stack">
      <div className="bar">
        <h1>Step {step}</h1>
        <OtherSteps run={name} step={step} last={last} />
      </div>
      <Answer of={asked} what={`step ${step}`}>
        {(answer) => (
          <>
            {versions.map((version) => (
              <VersionPanel
                key={version.index}
                run={name}
                version={version}
                flips={answer.versions.find((one) => one.version === version.index)}
              />
            ))}
            {versions.length === 0 ? (
              <p className="note">
                This step made no candidate{answer.record ? `: ${answer.record.action.replaceAll('_', ' ')}` : ' yet'}.
              </p>
            ) : null}
            <Stages run={name} step={answer} />
          </>
        )}
      </Answer>
    </div>
  );
}

type OtherProps = { readonly run: string; readonly step: number; readonly last: number };

function OtherSteps({ run, step, last }: OtherProps) {
  return (
    <nav className="other-steps" aria-label="Other steps">
      {step > 1 ? (
        <a className="button" href={runAddress(run, ['steps', step - 1])}>
          ← step {step - 1}
        </a>
      ) : null}
      {step < last ? (
        <a className="button" href={runAddress(run, ['steps', step + 1])}>
          step {step + 1} →
        </a>
      ) : null}
    </nav>
  );
}

type VersionPanelProps = {
  readonly run: string;
  readonly version: VersionRow;
  readonly flips: StepPage['versions'][number] | undefined;
};

function VersionPanel({ run, version, flips }: VersionPanelProps) {
  const { index, parent, fate, score, scoreBefore, reason, race, met, isTextKept } = version;
  return (
    <Section
      title={versionName(version)}
      aside={
        isTextKept ? (
          <a href={runAddress(run, ['diff'], { from: parent ?? 0, to: index })}>What it changed</a>
        ) : (
          <span className="note">text not kept</span>
        )
      }
    >
      <p className="next">
        <Mark kind={fate} />
        <b>{score === null ? 'not measured' : scoreChange(scoreBefore, score)}</b>
        <span className="note">{reason}</span>
      </p>
      {race ? <RaceFacts race={race} met={met} /> : null}
      {race && race.waves.length > 1 ? <Waves waves={race.waves} /> : null}
      {flips ? (
        <div className="flips">
          <TaskLinks run={run} kind="gained" tasks={flips.gained} />
          <TaskLinks run={run} kind="lost" tasks={flips.lost} />
          <p className="note">Tasks that flipped when this version came: an observation, not a cause.</p>
        </div>
      ) : null}
    </Section>
  );
}

function RaceFacts({ race, met }: { readonly race: Race; readonly met: number }) {
  const { expectedGain, chance, total, needs, secondPass, askedAgain, veto } = race;
  const facts: [string, string][] = [
    ['Met', `${count(met)} of ${plural(total, 'task')}`],
    ['Expected gain', `${points(expectedGain)} points`],
    ['Chance of a gain', percent(chance)],
    ...(needs === null ? [] : [['To decide it', `about ${plural(needs, 'more attempt')}`] as [string, string]]),
    ...(secondPass === 0 ? [] : [['Second pass', plural(secondPass, 'attempt')] as [string, string]]),
    ...(askedAgain === 0 ? [] : [['Asked again', plural(askedAgain, 'attempt')] as [string, string]]),
    ...(veto === null ? [] : [['Vetoed', veto] as [string, string]]),
  ];
  return <Facts className="inline-facts" rows={facts} />;
}

type Wave = Race['waves'][number] & { readonly wave: number };

/** As the fates of versions are called. */
const VERDICTS: Readonly<Record<string, string>> = {
  accept: 'accepted',
  reject: 'rejected',
  inconclusive: 'undecided',
};

const WAVE_COLUMNS: readonly Column<Wave>[] = [
  { head: 'Wave', cell: ({ wave }) => wave },
  numbers('Tasks met', ({ met }) => count(met)),
  numbers('Expected gain', ({ expectedGain }) => points(expectedGain)),
  numbers('Chance', ({ chance }) => percent(chance)),
  { head: 'Then', cell: ({ verdict, reason }) => <span title={reason}>{VERDICTS[verdict] ?? verdict}</span> },
];

/** How the gate saw the candidate after each wave of tasks. */
const Waves = ({ waves }: Pick<Race, 'waves'>) => (
  <Table
    className="waves"
    columns={WAVE_COLUMNS}
    rows={waves.map((wave, index): Wave => ({ ...wave, wave: index + 1 }))}
  />
);

/** The six stages beside each other. */
function Stages({ run, step }: { readonly run: string; readonly step: StepPage }) {
  const { record, failed, passed, patches, merged, ranked, report, missing } = step;
  const timing = (stage: Stage) => (record?.timing[stage] === undefined ? '' : seconds(record.timing[stage]));
  const edits = (of: readonly unknown[] | undefined) => (of === undefined ? null : plural(of.length, 'edit'));
  const tried = `${count(failed.length)} failed, ${count(passed.length)} passed`;
  const proposals = patches === null ? null : plural(patches.length, 'proposal');
  const score = record === null ? null : percent(record.candidateGateScore);
  return (
    <Section title="How it came about" aside={record ? <span className="note">{costOf(record)}</span> : null}>
      <div className="stages">
        <StageColumn title="Tried tasks" time={timing('rollout')} what={tried}>
          <TaskLinks run={run} kind="failed" tasks={failed} />
        </StageColumn>
        <StageColumn title="Read results" time={timing('reflect')} what={proposals}>
          <Proposals patches={patches ?? []} />
        </StageColumn>
        <StageColumn title="Joined" time={timing('aggregate')} what={edits(merged?.edits)}>
          <EditList edits={merged?.edits ?? []} />
        </StageColumn>
        <StageColumn title="Chose" time={timing('select')} what={edits(ranked?.edits)}>
          <Chosen step={step} />
        </StageColumn>
        <StageColumn title="Applied" time={timing('update')} what={edits(report ?? undefined)}>
          <Applied report={report ?? []} />
        </StageColumn>
        <StageColumn title="Measured" time={timing('evaluate')} what={score}>
          {record ? <p className="note">{record.verdictReason ?? record.action.replaceAll('_', ' ')}</p> : null}
        </StageColumn>
      </div>
      {missing.length > 0 ? <p className="note">Not kept: {missing.join(', ')}</p> : null}
    </Section>
  );
}

function costOf({ tokens, wallTimeS }: NonNullable<StepPage['record']>): string {
  const stages = Object.values(tokens);
  const sum = (of: (stage: (typeof stages)[number]) => number) => stages.reduce((total, stage) => total + of(stage), 0);
  const calls = sum(({ replies, cacheHits, retries }) => replies - cacheHits + retries);
  const price = priceOf({ costUsd: sum(({ costUsd }) => costUsd), isPriced: sum(({ unpriced }) => unpriced) === 0 });
  return `${plural(calls, 'call')}, ${count(sum(({ input, output }) => input + output))} tokens, ${price}, ${seconds(wallTimeS * 1000)}`;
}
