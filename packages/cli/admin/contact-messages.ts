import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { formatTime } from '../views.ts'

/** Prints the messages of the contact form. */
export async function run(cli: Context, { limit }: { limit: number }): Promise<void> {
  const { contact_messages } = await answerOf(
    cli.rest.GET('/api/admin/contact-messages', { params: { query: { limit } } }),
  )
  cli.out.list(
    contact_messages,
    [
      { title: 'WHEN', value: ({ created_at }) => formatTime(created_at) },
      { title: 'FROM', value: ({ name, email }) => `${name} <${email}>` },
      { title: 'CATEGORY', value: ({ category }) => category },
      { title: 'SUBJECT', value: ({ subject }) => subject },
      { title: 'DELIVERED', value: ({ delivered }) => (delivered ? 'yes' : 'no') },
      { title: 'MESSAGE', value: ({ message }) => message },
    ],
    'No messages.',
  )
}
