import { Button, Group, Radio, Stack, Text, Textarea } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { type FormEvent, useState } from 'react'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { t } from '../texts/texts.ts'
import { Problem } from '../ui/states.tsx'
import { type SessionDetail, sessionQuery } from './session-query.ts'

const COMMENT_MAX = 2_000

/** Asks the owner for a rating of a session, once. */
export function RatingForm({ session }: { session: SessionDetail }) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const [stars, setStars] = useState(0)
  const [comment, setComment] = useState('')
  const rate = useMutation({
    mutationFn: () =>
      answerOf(
        rest.POST('/api/sessions/{id}/rate', {
          params: { path: { id: session.id } },
          body: { rating: stars, comment: comment.trim() || null },
        }),
      ),
    onSuccess: (rated) => queries.setQueryData(sessionQuery(rest, session.id).queryKey, rated),
    onSettled: () => queries.invalidateQueries({ queryKey: keys.sessions }),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (stars > 0) rate.mutate()
  }
  return (
    <form onSubmit={submit} aria-label={t('session.rating.form')}>
      <Stack gap="xs">
        <Radio.Group
          label={t('session.rating.label')}
          value={String(stars)}
          onChange={(value) => setStars(Number(value))}
        >
          <Group mt={4}>
            {[1, 2, 3, 4, 5].map((count) => (
              <Radio
                key={count}
                value={String(count)}
                label={`${count} ★`}
                aria-label={t('session.rating.stars', { count })}
              />
            ))}
          </Group>
        </Radio.Group>
        <Textarea
          label={t('session.rating.comment')}
          description={t('session.rating.commentNote')}
          maxLength={COMMENT_MAX}
          autosize
          minRows={2}
          value={comment}
          onChange={(event) => setComment(event.currentTarget.value)}
        />
        <Problem error={rate.error} />
        <Group>
          <Button type="submit" disabled={stars === 0} loading={rate.isPending}>
            {t('session.rating.submit')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** Shows the rating of a session. */
export const RatingShown = ({ session }: { session: SessionDetail }) =>
  session.rating !== null && (
    <Stack gap={4}>
      <Text role="img" aria-label={t('session.rating.rated', { count: session.rating })}>
        {'★'.repeat(session.rating)}
        {'☆'.repeat(5 - session.rating)}
      </Text>
      {session.rating_comment && (
        <Text size="sm" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
          {session.rating_comment}
        </Text>
      )}
    </Stack>
  )
