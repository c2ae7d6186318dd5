import type { Race, RunPage, StepPage, VersionRow } from '../../core/page/index.ts';
import type { Stage } from '../../core/run/index.ts';
import { count, percent, plural, points } from '../../core/text/index.ts';
import { runAddress } from '../address.ts';
import { Answer, Section } from '../parts/frame.tsx';
import { Lineage } from '../parts/lineage.tsx';
import { Mark } from '../parts/mark.tsx';
import { priceOf, scoreChange, seconds, versionName } from '../parts/words.ts';
import { useAsked, useSource } from '../state.ts';
import { EditList, StageColumn, TaskLinks } from './step-parts.tsx';

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
  return <OneStep key={step} page={page} step={step} />;
}

function OneStep({ page, step }: { readonly page: RunPage; readonly step: number }) {
  const source = useSource();
  const { name, figures } = page;
  const versions = figures.versions.filter((one) => one.step === step && one.kind !== 'guidance' && one.index > 0);
  const isOver = figures.curve.some((point) => point.step === step);
  const asked = useAsked(`step ${name} ${step} ${isOver || page.lines}`, () => source.step(name, step));
  return (
    <div className="stack">
      <div className="bar">
        <h1>Step {step}</h1>
        <nav className="next" aria-label="Other steps">
          <a href={runAddress(name, ['steps', Math.max(1, step - 1)])}>previous</a>
          <a href={runAddress(name, ['steps', step + 1])}>next</a>
        </nav>
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
  return (
    <dl className="inline-facts">
      {facts.map(([what, value]) => (
        <div key={what}>
          <dt>{what}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** How the gate saw the candidate after each wave of tasks. */
const Waves = ({ waves }: Pick<Race, 'waves'>) => (
  <table className="waves">
    <thead>
      <tr>
        <th scope="col">Wave</th>
        <th scope="col" className="number">
          Tasks met
        </th>
        <th scope="col" className="number">
          Expected gain
        </th>
        <th scope="col" className="number">
          Chance
        </th>
        <th scope="col">Then</th>
      </tr>
    </thead>
    <tbody>
      {waves.map(({ met, expectedGain, chance, verdict, reason }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: waves keep their places
        <tr key={index}>
          <th scope="row">{index + 1}</th>
          <td className="number">{count(met)}</td>
          <td className="number">{points(expectedGain)}</td>
          <td className="number">{percent(chance)}</td>
          <td title={reason}>{verdict}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

/** The six stages beside each other. */
function Stages({
  run,
  step: { record, failed, passed, patches, merged, ranked, refused, repeats, report, missing },
}: {
  readonly run: string;
  readonly step: StepPage;
}) {
  const timing = (stage: Stage) => (record?.timing[stage] === undefined ? '' : seconds(record.timing[stage]));
  return (
    <Section title="How it came about" aside={record ? <span className="note">{costOf(record)}</span> : null}>
      <div className="stages">
        <StageColumn
          title="Tried tasks"
          time={timing('rollout')}
          what={`${count(failed.length)} failed, ${count(passed.length)} passed`}
        >
          <TaskLinks run={run} kind="failed" tasks={failed} />
        </StageColumn>
        <StageColumn
          title="Read results"
          time={timing('reflect')}
          what={patches === null ? null : plural(patches.length, 'proposal')}
        >
          {patches?.map(({ patch, sourceType, batchSize }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: proposals keep their places
            <div key={index}>
              <p className="note">from {plural(batchSize, `${sourceType === 'failure' ? 'failed' : 'passed'} task`)}</p>
              <EditList edits={patch.edits} />
            </div>
          ))}
        </StageColumn>
        <StageColumn
          title="Joined"
          time={timing('aggregate')}
          what={merged === null ? null : plural(merged.edits.length, 'edit')}
        >
          <EditList edits={merged?.edits ?? []} />
        </StageColumn>
        <StageColumn
          title="Chose"
          time={timing('select')}
          what={ranked === null ? null : plural(ranked.edits.length, 'edit')}
        >
          <EditList edits={ranked?.edits ?? []} />
          {repeats.length > 0 ? <p className="note">{plural(repeats.length, 'repeat')} left out</p> : null}
          {refused.map(({ reason }) => (
            <p key={reason} className="bad">
              refused: {reason}
            </p>
          ))}
        </StageColumn>
        <StageColumn
          title="Applied"
          time={timing('update')}
          what={report === null ? null : plural(report.length, 'edit')}
        >
          {report?.map(({ index, contentPreview, status, error }) => (
            <p key={index}>
              {contentPreview}{' '}
              <span className="note">
                {status.replaceAll('_', ' ')}
                {error ? `: ${error}` : ''}
              </span>
            </p>
          ))}
        </StageColumn>
        <StageColumn
          title="Measured"
          time={timing('evaluate')}
          what={record === null ? null : percent(record.candidateGateScore)}
        >
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
