import { Button, Group, Text, Textarea } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { type FormEvent, useState } from 'react'
import { Problem } from '../base/states.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { t } from '../texts/texts.ts'
import styles from './session-page.module.css'
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
    <Group component="form" gap="xs" onSubmit={submit} aria-label={t('session.rating.form')}>
      <Text fw={600}>{t('session.rating.form')}</Text>
      <Group gap={0} role="radiogroup" aria-label={t('session.rating.label')} className={styles.stars ?? ''}>
        {[1, 2, 3, 4, 5].map((count) => (
          <label key={count}>
            <input
              type="radio"
              name="stars"
              checked={stars === count}
              aria-label={t('session.rating.stars', { count })}
              onChange={() => setStars(count)}
            />
            {count <= stars ? '★' : '☆'}
          </label>
        ))}
      </Group>
      {stars > 0 && (
        <>
          <Textarea
            flex="1 1 16rem"
            aria-label={t('session.rating.comment')}
            placeholder={`${t('session.rating.comment')}. ${t('session.rating.commentNote')}`}
            maxLength={COMMENT_MAX}
            autosize
            minRows={1}
            value={comment}
            onChange={(event) => setComment(event.currentTarget.value)}
          />
          <Button type="submit" loading={rate.isPending}>
            {t('session.rating.submit')}
          </Button>
        </>
      )}
      <Problem error={rate.error} />
    </Group>
  )
}

export const Stars = ({ count }: { count: number }) => (
  <span role="img" aria-label={t('session.rating.rated', { count })}>
    {'★'.repeat(count)}
    {'☆'.repeat(5 - count)}
  </span>
)
