import type { RobotConfig } from './config.ts'
import type { RosSource, SourceOptions } from './source.ts'

export type SourceType = RobotConfig['source']['type']

/** Where the sources usually are. */
export const USUAL_ADDRESSES: Readonly<Record<SourceType, string>> = {
  ros1: 'http://localhost:11311',
  foxglove: 'ws://localhost:8765',
  rosbridge: 'ws://localhost:9090',
}

/** Loads the code of a source, and returns what connects it. */
export async function loadSource(type: SourceType): Promise<(options: SourceOptions) => RosSource> {
  if (type === 'ros1') {
    const { Ros1Source } = await import('./ros1.ts')
    return (options) => new Ros1Source(options)
  }
  if (type === 'foxglove') {
    const { FoxgloveSource } = await import('./foxglove.ts')
    return (options) => new FoxgloveSource(options)
  }
  const { RosbridgeSource } = await import('./rosbridge.ts')
  return (options) => new RosbridgeSource(options)
}
