import type { ComponentProps, ReactNode } from 'react'
import { useMe } from '../auth/me.ts'
import { LinkButton } from '../ui/links.tsx'
import { Page } from '../ui/page.tsx'
import { Empty } from '../ui/states.tsx'

/** A page for admins; others are told so, and nothing is asked of the platform. */
export function AdminPage({ children, ...page }: Omit<ComponentProps<typeof Page>, 'actions'>) {
  const { roles } = useMe()
  if (!roles.includes('admin')) return <NotForYou title={page.title} />
  return <Page {...page}>{children}</Page>
}

const NotForYou = ({ title }: { title: string }): ReactNode => (
  <Page title={title}>
    <Empty title="This page is for administrators" action={<LinkButton to="/">Go home</LinkButton>}>
      Your account does not have that role.
    </Empty>
  </Page>
)
