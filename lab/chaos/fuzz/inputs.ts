import { createRandom } from '../random.ts'
import { createFrameInputs, createRequestInputs } from './frame-inputs.ts'
import type { Input, Target } from './input.ts'
import { createJsonInputs } from './json-inputs.ts'
import { createPacketInputs } from './packet-inputs.ts'

/** Generates inputs for every target, reproducible by seed. */
export function createInputs(seed: number, sessionId: () => string): (target: Target) => Input {
  const random = createRandom(seed)
  const json = createJsonInputs(random.fork('json'))
  const frame = createFrameInputs(random.fork('frames'), json)
  const packet = createPacketInputs(random.fork('packets'), json, sessionId)
  const request = createRequestInputs(random.fork('requests'))
  return (target) => {
    if (target === 'hub' || target === 'hub-stranger') return packet(target)
    if (target === 'gateway-bytes' || target === 'hub-bytes') return request(target)
    return frame(target)
  }
}
