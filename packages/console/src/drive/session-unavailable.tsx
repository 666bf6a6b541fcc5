import type { ReactNode } from 'react'
import { LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Empty } from '../base/states.tsx'
import type { SessionDetail } from '../session/session-query.ts'
import { t } from '../texts/texts.ts'

interface Props {
  readonly session: SessionDetail
  /** The heading of the page. */
  readonly heading: string
  /** Why the view of the session is not shown. */
  readonly title: string
  /** The button to go on with; the link to the session without it. */
  readonly action?: ReactNode
  readonly children: ReactNode
}

/** Explains why a session has no view that fills the window, and links to its page. */
export const SessionUnavailable = ({ session, heading, title, action, children }: Props) => (
  <Page title={heading}>
    <Empty
      title={title}
      action={
        action ?? (
          <LinkButton to="/sessions/$sessionId" params={{ sessionId: session.id }}>
            {t('drive.page.viewSession')}
          </LinkButton>
        )
      }
    >
      {children}
    </Empty>
  </Page>
)
