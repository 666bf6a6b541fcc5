import { setTimeout as delay } from 'node:timers/promises'
import { type Call, callerOf, readyPort } from '../../../test/support/processes/rpc.ts'
import type { Lab } from '../lab.ts'
import type { CameraProgram } from './camera.ts'
import type { Forwarder } from './forwarders.ts'
import type { ViewerProgram } from './viewers.ts'

export const stream = { bitsPerSecond: 2_000_000, framesPerSecond: 30 } as const
/** Until a new stream has its usual rate. */
const SETTLE_MS = 1_500
/** Viewers that connect at the same time. */
const AT_A_TIME = 8

/** One camera that sends, and viewers in another process. */
export interface VideoEnvironment {
  readonly forwarder: Forwarder
  readonly camera: Call<CameraProgram>
  readonly viewers: Call<ViewerProgram>
  /** Connects the viewers from `from` to before `to`, some at a time. */
  join(from: number, to: number): Promise<void>
  /** Returns what arrived at the viewers in some seconds from now. */
  measure(seconds: number): Promise<ReturnType<ViewerProgram['read']>>
  close(): Promise<void>
}

/** Starts the programs, connects the camera, and sends from now on. */
export async function openEnvironment(
  lab: Lab,
  start: (camera: Call<CameraProgram>) => Promise<Forwarder>,
): Promise<VideoEnvironment> {
  const programs = [
    lab.children.run('lab/bench/video/camera.ts'),
    lab.children.run('lab/bench/video/viewers.ts'),
  ]
  const [camera, viewers] = [
    callerOf<CameraProgram>((programs[0] as (typeof programs)[0]).process),
    callerOf<ViewerProgram>((programs[1] as (typeof programs)[0]).process),
  ]
  let forwarder: Forwarder | undefined
  const close = async () => {
    await Promise.all(programs.map((child) => child.stop()))
    await forwarder?.stop()
  }
  try {
    await Promise.all(programs.map((child) => readyPort(child.process)))
    const started = await start(camera)
    forwarder = started
    await started.publish(camera)
    await camera('start', stream)
    await delay(SETTLE_MS)
    return {
      forwarder: started,
      camera,
      viewers,
      close,
      async join(from, to) {
        const ids = Array.from({ length: to - from }, (_, index) => from + index).values()
        const channel = async () => {
          for (const id of ids) {
            await started.view(viewers, id)
            await viewers('firstFrame', id)
          }
        }
        await Promise.all(Array.from({ length: AT_A_TIME }, channel))
      },
      async measure(seconds) {
        await delay(SETTLE_MS)
        await viewers('mark')
        await delay(seconds * 1_000)
        return await viewers('read')
      },
    }
  } catch (cause) {
    await close()
    throw cause
  }
}
