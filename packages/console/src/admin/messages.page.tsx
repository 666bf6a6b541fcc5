import { SegmentedControl, Stack } from '@mantine/core'
import { answerOf } from '@wheelhouse/sdk'
import { useState } from 'react'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { t } from '../texts/texts.ts'
import { AdminPage } from './admin-page.tsx'
import { MessageCard } from './message-card.tsx'
import { PAGE_SIZE, PagesView, usePages } from './pages.tsx'

/** Lists messages of the contact form and their delivery status. */
export const MessagesPage = () => (
  <AdminPage title={t('admin.messages.title')} description={t('admin.messages.description')}>
    <Messages />
  </AdminPage>
)

const choices = [
  { value: 'all', label: t('admin.messages.all') },
  { value: 'false', label: t('admin.messages.pending') },
  { value: 'true', label: t('admin.messages.delivered') },
] as const
type Choice = (typeof choices)[number]['value']

function Messages() {
  const { rest } = usePlatform()
  const [choice, setChoice] = useState<Choice>('all')
  const query = usePages([...keys.inbox, 'messages', choice], async (before, signal) => {
    const filter = { limit: PAGE_SIZE, before, delivered: choice === 'all' ? undefined : choice }
    const { contact_messages } = await answerOf(
      rest.GET('/api/admin/contact-messages', { params: { query: filter }, signal }),
    )
    return contact_messages
  })
  return (
    <>
      <SegmentedControl
        aria-label={t('admin.messages.delivery')}
        value={choice}
        onChange={setChoice}
        data={[...choices]}
        maw={400}
      />
      <PagesView query={query} empty={t('admin.messages.emptyTitle')}>
        {(messages) => (
          <Stack component="ul" gap="sm" m={0} p={0} style={{ listStyle: 'none' }}>
            {messages.map((message) => (
              <li key={message.id}>
                <MessageCard message={message} />
              </li>
            ))}
          </Stack>
        )}
      </PagesView>
    </>
  )
}
