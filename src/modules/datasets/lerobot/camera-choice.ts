import { ExportProblem } from '../../../core/exports/export-problem.ts'
import {
  type CameraMode,
  type CameraPlan,
  type CameraScans,
  cameraKey,
  firstPictureMs,
  startMsOf,
  timesOf,
} from './dataset-plan.ts'
import type { FrameFormat } from './frame-format.ts'
import type { PictureSize } from './picture-size.ts'
import { followingRun, leadingRun } from './row-clock.ts'

/** The programs of this machine that decode video. */
export interface VideoToolNames {
  readonly ffmpeg: boolean
  readonly decoder: boolean
}

/** The properties that all episodes so far have in common for a camera. */
interface CameraSummary {
  readonly format: FrameFormat
  readonly size: PictureSize
  isUniform: boolean
  /** Whether its frames can be the rows. */
  canLead: boolean
  /** The cameras whose frames can be its rows, too. */
  readonly followers: Set<string>
}

/** Chooses the mode of each camera of a dataset, and its leading camera, from the scans of all episodes. */
export function createCameraChoice(cameras: readonly string[], fps: number) {
  const summaries = new Map<string, CameraSummary>()
  const missing = new Set<string>()

  /** Updates whether the frames of a camera can be the rows, and which cameras follow. */
  function checkLead(
    name: string,
    scans: CameraScans,
    period: { readonly fromMs: number; readonly endMs: number },
  ): void {
    const [summary, scan] = [summaries.get(name), scans.get(name)]
    if (!summary?.canLead || !scan) return
    const run = leadingRun(scan, period, fps)
    if (!run) {
      summary.canLead = false
      return
    }
    const rowTimes = timesOf(scan, run)
    for (const other of summary.followers) {
      const following = scans.get(other)
      if (!following || !followingRun(following, rowTimes, fps)) summary.followers.delete(other)
    }
  }

  function summarize(name: string, scans: CameraScans): boolean {
    const scan = scans.get(name)
    if (!scan?.format || !scan.size || firstPictureMs(scan) === Number.POSITIVE_INFINITY) return false
    const { format, size, hasOneSize } = scan
    const known = summaries.get(name)
    if (!known) {
      const followers = new Set(cameras.filter((other) => other !== name))
      summaries.set(name, { format, size, isUniform: hasOneSize, canLead: format !== 'jpeg', followers })
      return true
    }
    known.isUniform &&=
      hasOneSize &&
      format === known.format &&
      size.width === known.size.width &&
      size.height === known.size.height
    return true
  }

  return {
    /** Adds an episode of a duration. Returns a camera that has no pictures in it; undefined if all have some. */
    add(scans: CameraScans, durationMs: number): string | undefined {
      for (const name of cameras) if (!summarize(name, scans)) missing.add(name)
      if (missing.size > 0) return [...missing][0]
      const period = { fromMs: startMsOf(scans, cameras), endMs: durationMs }
      for (const name of cameras) checkLead(name, scans, period)
      return undefined
    },

    /** Returns the cameras of the dataset, and the one whose frames are the rows. */
    result(tools: VideoToolNames): {
      readonly cameras: readonly CameraPlan[]
      readonly leadCamera: string | undefined
    } {
      const canMux = (name: string) => {
        const summary = summaries.get(name)
        return summary ? summary.isUniform && summary.format !== 'jpeg' : false
      }
      const leadCamera = cameras.find((name) => canMux(name) && summaries.get(name)?.canLead)
      const followers = summaries.get(leadCamera ?? '')?.followers ?? new Set<string>()
      const isMuxed = (name: string) => name === leadCamera || (canMux(name) && followers.has(name))
      return {
        leadCamera,
        cameras: cameras.map((name) =>
          planOf(name, summaries.get(name) as CameraSummary, isMuxed(name), tools),
        ),
      }
    },
  }
}

function planOf(
  name: string,
  { format, size }: CameraSummary,
  isMuxed: boolean,
  tools: VideoToolNames,
): CameraPlan {
  const plan = { name, key: cameraKey(name) }
  if (isMuxed) return { ...plan, mode: 'mux', format, size }
  const mode = otherMode(name, format, tools)
  if (mode === 'images') return { ...plan, mode, format: 'jpeg', size }
  // Video in the format yuv420p has an even size.
  const even = { width: size.width & ~1, height: size.height & ~1 }
  return { ...plan, mode, format: 'h264', size: even }
}

function otherMode(name: string, format: FrameFormat, tools: VideoToolNames): CameraMode {
  if (tools.ffmpeg) return 'transcode'
  if (format === 'jpeg' || tools.decoder) return 'images'
  throw new ExportProblem(
    `The frame rate of the camera ${name} is not that of the dataset, so its video must be transcoded, and ffmpeg is not installed on the platform. Export at the frame rate of the camera, leave the camera out, or install ffmpeg.`,
  )
}
