import { Group, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { t } from '../texts/texts.ts'
import { LinkButton } from './links.tsx'
import { Empty } from './states.tsx'

interface Props {
  readonly title: string
  readonly description?: ReactNode
  /** A page nearby. */
  readonly link?: readonly [to: LinkProps['to'], label: string]
  /** Buttons to the right of the title. */
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** Renders a page with title, description, actions and content. Sets the window title too. */
export function Page({ title, description, link, actions, children }: Props) {
  useDocumentTitle(`${title} · Wheelhouse`)
  return (
    <Stack gap="lg" maw={1416} mx="auto">
      <Group justify="space-between" align="flex-start">
        <div>
          <Title order={1}>{title}</Title>
          {description && <Text c="dimmed">{description}</Text>}
        </div>
        {(link || actions) && (
          <Group>
            {link && (
              <LinkButton to={link[0]} variant="default">
                {link[1]}
              </LinkButton>
            )}
            {actions}
          </Group>
        )}
      </Group>
      {children}
    </Stack>
  )
}

export const NotFound = () => (
  <Page title={t('ui.notFound.page')}>
    <Empty title={t('ui.notFound.noPage')} action={<LinkButton to="/">{t('common.goHome')}</LinkButton>} />
  </Page>
)
