import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'

/** Prints the supported robot models. */
export async function run(cli: Context): Promise<void> {
  const { models } = await answerOf(cli.rest.GET('/api/robots'))
  cli.out.list(
    models,
    [
      { title: 'ID', value: ({ id }) => id, noTruncate: true },
      { title: 'NAME', value: ({ name }) => name },
      { title: 'MANUFACTURER', value: ({ manufacturer }) => manufacturer },
      { title: 'TYPE', value: ({ robot_type }) => robot_type },
    ],
    'No models.',
  )
}
