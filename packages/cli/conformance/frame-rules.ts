import { MAX_FRAME_BYTES, MAX_FRAME_DEPTH } from '@wheelhouse/protocol'
import { type Defects, isTooMuch } from './frame-log.ts'
import { judge, type Rule } from './rule.ts'

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
const UNKNOWN = '{"type":"x_conformance","text":"'

/** Frames that a later gateway, or a faulty one, may send. A program ignores them. */
export const strangeFrames: readonly (readonly [name: string, frame: string | Uint8Array])[] = [
  ['a frame of 64 KiB', `${UNKNOWN}${'x'.repeat(MAX_FRAME_BYTES - UNKNOWN.length - 2)}"}`],
  ['an unknown type', '{"type":"x_conformance"}'],
  ['a deep frame', `{"type":"x_conformance","deep":${nested(MAX_FRAME_DEPTH - 1)}}`],
  ['an error with unknown fields', '{"type":"error","message":"nothing is wrong","x_conformance":{"a":[1]}}'],
  ['text that is cut off', '{"type":"limits","speed_sca'],
  ['text that is no object', 'null'],
  ['a list', '[]'],
  ['an empty text', ''],
  ['an object without a type', '{}'],
  ['a number as type', '{"type":7}'],
  ['an unknown binary frame', Uint8Array.of(99, 1, 2)],
  ['an empty binary frame', new Uint8Array()],
]

/**
 * Returns the rules about all frames that a program has sent. They come last.
 * @param collect makes sure that it has sent some
 */
export function frameRules<Bench>(
  collect: (bench: Bench) => Promise<Defects>,
  duty: string,
): readonly Rule<Bench>[] {
  return [
    {
      id: 'finite-numbers',
      title: 'Never sends numbers that are not finite',
      protects: 'the other side and recordings: NaN is no JSON, and the frame is lost',
      duty,
      quick: true,
      async test(bench) {
        const { notFinite, frames } = await collect(bench)
        return judge(notFinite === undefined, notFinite ?? `${frames} frames`, 'no NaN, no infinity')
      },
    },
    {
      id: 'well-formed',
      title: 'Sends well-formed frames',
      protects: 'the program itself: the gateway closes it with 4002 after five malformed frames',
      duty,
      quick: true,
      async test(bench) {
        const { malformed, frames } = await collect(bench)
        return judge(malformed === undefined, malformed ?? `${frames} frames`, 'every frame fits its schema')
      },
    },
    {
      id: 'frame-limits',
      title: 'Keeps the limits of frames: 64 KiB, 1,000 frames and 1 MiB a second',
      protects: 'the others on the gateway; beyond it, frames are dropped',
      duty,
      quick: true,
      async test(bench) {
        const defects = await collect(bench)
        const { largestBytes, framesPerSecond, bytesPerSecond } = defects
        const measured = `${largestBytes} bytes, ${framesPerSecond} frames/s, ${bytesPerSecond} bytes/s in large frames`
        return judge(
          !isTooMuch(defects),
          measured,
          `${MAX_FRAME_BYTES} bytes, 1000 frames/s, 1048576 bytes/s`,
        )
      },
    },
  ]
}
