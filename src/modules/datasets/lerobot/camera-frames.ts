import { cameraTopic } from '@wheelhouse/protocol'
import { decodeFrame } from '../../../core/mcap/compressed-frame.ts'
import type { McapFileReader } from '../../../core/mcap/mcap-reader.ts'
import { atOffset, type CameraScan, type EpisodePeriod, frameSchemaOf } from './episode-scan.ts'
import { isFrameFormat } from './frame-format.ts'
import { firstNotBefore } from './row-clock.ts'

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
  range: { readonly from: number; readonly to: number },
): AsyncGenerator<CameraFrame> {
  const { from, to } = range
  if (from >= to) return
  let index = firstNotBefore(scan.times, scan.times[from] as number)
  const messages = reader.readMessages({
    topics: [cameraTopic(scan.name)],
    startTime: atOffset(period, scan.times[index] as number),
    endTime: period.endNs,
    validateCrcs: false, // the scan did
  })
  for await (const message of messages) {
    const schema = frameSchemaOf(reader, message.channelId)
    if (!schema) continue
    const { format, data } = decodeFrame(schema, message.data)
    if (!isFrameFormat(format)) continue
    if (index >= from) yield { index, atMs: scan.times[index] as number, isKey: scan.keys[index] === 1, data }
    if (++index >= to) return
  }
}
