import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { showConnection, showRobot } from './view.ts'

interface Options {
  readonly type: string
  readonly hardwareId: string
  readonly streamUrl?: string
  readonly tag?: string[]
  readonly notes?: string
  readonly requireCertification?: boolean
}

/** Registers a robot and prints its token. */
export async function run(cli: Context, name: string, options: Options): Promise<void> {
  const body = {
    name,
    robot_type: options.type,
    hardware_id: options.hardwareId,
    ...(options.streamUrl !== undefined && { stream_url: options.streamUrl }),
    ...(options.tag && { tags: options.tag }),
    ...(options.notes !== undefined && { notes: options.notes }),
    ...(options.requireCertification !== undefined && {
      require_certification: options.requireCertification,
    }),
  }
  const robot = await answerOf(cli.rest.POST('/api/client/robots', { body }))
  cli.out.result(robot, () => {
    showRobot(cli.out, robot)
    showConnection(cli.out, robot)
  })
}
