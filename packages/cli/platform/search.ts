import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { formatTime } from '../views.ts'

const KINDS = {
  own_robot: 'your robot',
  available_robot: 'available robot',
  session: 'session',
  user: 'user',
} as const

/** Prints the robots, sessions and users that contain all words. */
export async function run(cli: Context, words: readonly string[]): Promise<void> {
  const query = { q: words.join(' ') }
  const { results } = await answerOf(cli.rest.GET('/api/search', { params: { query } }))
  cli.out.list(
    results,
    [
      { title: 'KIND', value: ({ kind }) => KINDS[kind] },
      { title: 'ID', value: ({ id }) => id, noTruncate: true },
      { title: 'NAME', value: ({ title }) => title },
      { title: 'DETAIL', value: ({ detail }) => detail },
      { title: 'TIME', value: ({ at }) => formatTime(at) },
    ],
    'No results.',
  )
}
