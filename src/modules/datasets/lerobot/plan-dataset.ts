import { ExportProblem } from '../../../core/exports/export-problem.ts'
import { createCameraChoice, type VideoToolNames } from './camera-choice.ts'
import { createFeatureCollection } from './dataset-features.ts'
import { createRecordings, type EpisodeInput, periodOf } from './dataset-input.ts'
import { type CameraScans, cameraKey, type DatasetPlan } from './dataset-plan.ts'
import { durationMsOf, scanCameras } from './episode-scan.ts'
import type { Alignment } from './resampler.ts'
import type { Align } from './seen-clock.ts'
import type { DatasetStore } from './stored-file.ts'

export interface PlanInput {
  readonly fps: number
  readonly alignment: Alignment
  readonly align: Align
  readonly episodes: readonly EpisodeInput[]
  /** The cameras that all recordings have, or that the user chose. */
  readonly cameras: readonly string[]
  /** Whether the user chose the cameras. Otherwise, those that are not in all episodes are left out. */
  readonly isChosen: boolean
}

export interface PlanDeps {
  readonly store: Pick<DatasetStore, 'readBytes'>
  readonly tools: VideoToolNames
  /** Called with the number of episodes that were read. */
  readonly progress: (episodes: number) => void
  /** Called with the number and the frames of each episode, which the writer needs again. */
  readonly keep?: (index: number, scans: CameraScans) => void
}

/** Reads all episodes once, and chooses the features of the dataset and the mode of each camera. */
export async function planDataset(input: PlanInput, deps: PlanDeps): Promise<DatasetPlan> {
  requireDistinctKeys(input.cameras)
  const leftOut: string[] = []
  for (;;) {
    const cameras = input.cameras.filter((name) => !leftOut.includes(name))
    const plan = await tryPlan({ ...input, cameras }, deps)
    if (typeof plan !== 'string') return { ...plan, leftOut }
    leftOut.push(plan)
  }
}

/** Returns the plan, or the name of a camera that has no pictures in an episode. */
async function tryPlan(
  { fps, alignment, align, episodes, cameras, isChosen }: PlanInput,
  { store, tools, progress, keep }: PlanDeps,
): Promise<Omit<DatasetPlan, 'leftOut'> | string> {
  const openRecording = createRecordings(store)
  const features = createFeatureCollection()
  const choice = createCameraChoice(cameras, fps)
  for (const [index, episode] of episodes.entries()) {
    const reader = await openRecording(episode)
    await features.add(reader, episode)
    const scans = await scanCameras(reader, periodOf(episode), cameras)
    keep?.(episode.index, scans)
    const missing = choice.add(scans, durationMsOf(periodOf(episode)))
    if (missing !== undefined && !isChosen) return missing
    if (missing !== undefined)
      throw new ExportProblem(
        `The camera ${missing} has no pictures in the episode ${episode.id}. Leave the camera or the episode out.`,
      )
    progress(index + 1)
  }
  const plan = { fps, alignment, align, ...features.result(), ...choice.result(tools) }
  if (plan.vectors.length === 0 && plan.cameras.length === 0)
    throw new ExportProblem('The episodes have no numbers and no pictures that a dataset could hold.')
  return plan
}

function requireDistinctKeys(cameras: readonly string[]): void {
  const keys = new Map<string, string>()
  for (const name of cameras) {
    const other = keys.get(cameraKey(name))
    if (other !== undefined)
      throw new ExportProblem(
        `The cameras ${other} and ${name} would have the same name in the dataset. Leave one of them out.`,
      )
    keys.set(cameraKey(name), name)
  }
}
