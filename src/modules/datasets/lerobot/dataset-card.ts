import { notExportableTexts } from '../exportable-episodes.ts'
import type { LeftOut } from '../left-out.ts'
import type { DatasetTotals } from './dataset-info.ts'
import type { CameraMode, DatasetPlan } from './dataset-plan.ts'
import { slotName, type VectorFeature } from './features.ts'
import type { ResamplingCounts } from './resampler.ts'

const MAX_TASKS = 50

/** The gaps in the recordings of the episodes. */
export interface GapCounts {
  readonly episodes: number
  readonly seconds: number
  /** Whether episodes are cut where they are longer than the limit. */
  readonly isCut: boolean
}

export interface CardInput {
  readonly name: string
  readonly version: number
  readonly plan: DatasetPlan
  readonly totals: DatasetTotals
  readonly counts: ResamplingCounts
  readonly gaps: GapCounts
  readonly leftOut: LeftOut
}

const FRONT_MATTER = `---
license: other
task_categories:
- robotics
tags:
- LeRobot
configs:
- config_name: default
  data_files: data/*/*.parquet
---
`

const modeTexts: Readonly<Record<CameraMode, string>> = {
  mux: 'as recorded, without transcoding',
  transcode: 'transcoded to H.264',
  images: 'as JPEG pictures in the data files',
}

/** Returns text of users without a meaning in Markdown. */
const plain = (text: string): string =>
  text.replaceAll(/[\r\n]+/g, ' ').replaceAll(/[\\`*_{}[\]<>()#+!|~-]/g, '\\$&')

function featureLines({ key, slots }: VectorFeature): string[] {
  const names = slots.map((slot) => {
    const details = [slot.unit, slot.kind === 'number' ? undefined : slot.kind].filter(Boolean).join(', ')
    return `\`${slotName(slot)}\`${details ? ` (${plain(details)})` : ''}`
  })
  return [`* \`${key}\`: ${names.join(', ')}`]
}

function rowText({ leadCamera, fps }: DatasetPlan): string {
  return leadCamera === undefined
    ? `The rows are at even times, ${fps} in each second.`
    : `Each frame of the camera \`${leadCamera}\` is a row. The other values are those at the time of the frame. The column \`timestamp\` counts frames at ${fps} per second; the real times differ from it by the jitter of the camera.`
}

function notes({ plan, counts, gaps }: CardInput): string[] {
  const { inferred, leftOut, omitted } = plan
  const names = (list: readonly string[]) => list.map((name) => `\`${name}\``).join(', ')
  return [
    ...(inferred.length > 0
      ? [
          `The robot declared no schema for ${inferred.join(' and ')}: the fields come from its first messages.`,
        ]
      : []),
    ...(omitted.length > 0
      ? [`These fields hold no numbers, and are not in the dataset: ${names(omitted)}.`]
      : []),
    ...(leftOut.length > 0
      ? [`These cameras have no pictures in some episodes, and are not in the dataset: ${names(leftOut)}.`]
      : []),
    ...(counts.invalid > 0
      ? [`${counts.invalid} values were no finite numbers. The last finite value of the field replaces them.`]
      : []),
    ...(counts.unreadable > 0
      ? [`${counts.unreadable} messages were binary or damaged, and are left out.`]
      : []),
    ...(counts.unseen > 0
      ? [`In ${counts.unseen} rows, a field of the telemetry had no sample yet. It is 0 there.`]
      : []),
    ...(gaps.episodes > 0
      ? [
          `The recordings of ${gaps.episodes} episodes have gaps, ${gaps.seconds.toFixed(1)} seconds in total. ${
            gaps.isCut
              ? 'Episodes with more than a second of them are cut there: each part is an episode, and only the last one has the result. Values hold over the others.'
              : 'Values hold over a gap.'
          }`,
        ]
      : []),
  ]
}

/** Lists the episodes that are not in the dataset. */
function leftOutLines({ count, episodes }: LeftOut): string[] {
  if (count === 0) return []
  const lines = episodes.map(
    ({ episode_id, started_at, reason, missing_seconds }) =>
      `* ${plain(episode_id)} (${started_at}) ${notExportableTexts[reason]}${
        reason === 'gaps' ? `: ${missing_seconds.toFixed(1)} seconds` : ''
      }`,
  )
  const more = count - episodes.length
  return ['\n## Episodes that are left out\n', ...lines, ...(more > 0 ? [`* and ${more} more`] : [])]
}

/** Returns the content of `README.md`: the dataset card of the Hugging Face Hub. */
export function datasetCard(input: CardInput): string {
  const { name, version, plan, totals } = input
  const tasks = totals.tasks.slice(0, MAX_TASKS).map((task) => `* ${plain(task)}`)
  const more = totals.tasks.length - tasks.length
  const remarks = notes(input)
  return [
    FRONT_MATTER,
    `# ${plain(name)}\n`,
    `Version ${version} of a dataset of recorded teleoperation in the format LeRobot v3.0: ${totals.episodes} episodes and ${totals.frames} rows at ${plan.fps} rows per second, of robots of the type ${plain(totals.robotType)}.\n`,
    '## Tasks\n',
    ...tasks,
    ...(more > 0 ? [`* and ${more} more`] : []),
    '\n## Features\n',
    ...plan.vectors.flatMap(featureLines),
    ...plan.cameras.map(
      ({ key, mode, size }) => `* \`${key}\`: ${size.width} × ${size.height}, ${modeTexts[mode]}`,
    ),
    plan.vectors.some(({ source }) => source === 'policy')
      ? '* `intervention` and `complementary_info.is_intervention`: whether a person held control while a policy took part in the session; in episodes without a policy, whether a command of the operator was in effect'
      : '* `intervention` and `complementary_info.is_intervention`: whether a command of the operator was in effect',
    '* `next.done`, `next.success`: true in the last row of an episode, and of one that succeeded',
    '* `complementary_info.is_success_known`: false in the rows of an episode whose result is unknown; its `next.success` says nothing\n',
    '## Times\n',
    `${rowText(plan)} Frames and samples have the time at which the robot made them, where it says so, else that of their arrival at the platform; commands that at which the platform sent them to the robot.\n`,
    ...(plan.align === 'seen'
      ? [
          '* A command that names the picture by which its operator drove has the time at which that picture was captured.',
        ]
      : []),
    '* Commands hold until the next one. Their speeds hold for at most 250 ms and are then 0, or the value nearest to 0 that the field allows.',
    ...(plan.vectors.some(({ source }) => source === 'policy')
      ? [
          '* `policy_action` has the commands of the policy as `action` has those that the robot got: also those that the platform dropped because a person held control.',
        ]
      : []),
    '* Before the first command, a field that is no speed is the one of the same name in the telemetry.',
    plan.alignment === 'nearest'
      ? '* Numbers of the telemetry are those of the nearest sample, up to 500 ms later; booleans and choices hold.'
      : '* Values of the telemetry are those of the last sample up to the time of the row.',
    '* Fields that a sample lacks keep their last value. A choice is the index of its value.',
    ...(remarks.length > 0 ? ['\n## Notes\n', ...remarks.map((note) => `* ${note}`)] : []),
    ...leftOutLines(input.leftOut),
    '',
  ].join('\n')
}
