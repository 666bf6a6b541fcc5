import { cameraTopic } from '@wheelhouse/protocol'
import type { McapFileReader } from '../../recordings/mcap/index.ts'
import { type CameraScan, type EpisodePeriod, readCameras } from './episode-scan.ts'
import { isFrameFormat } from './frame-format.ts'

/** A frame of a camera, by its position in the scan of the episode. */
export interface CameraFrame {
  readonly index: number
  readonly atMs: number
  readonly isKey: boolean
  readonly data: Uint8Array
}

/** Reads frames of a camera, from one position to before another. */
export async function* readFrames(
  reader: McapFileReader,
  period: EpisodePeriod,
  scan: CameraScan,
  { from, to }: { readonly from: number; readonly to: number },
): AsyncGenerator<CameraFrame> {
  if (from >= to) return
  let index = 0
  // The scan has checked the CRCs.
  for await (const { atMs, format, data } of readCameras(reader, period, [cameraTopic(scan.name)], false)) {
    if (!isFrameFormat(format)) continue
    if (index >= from) yield { index, atMs, isKey: scan.keys[index] === 1, data }
    if (++index >= to) return
  }
}
