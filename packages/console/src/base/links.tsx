import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { ComponentPropsWithRef, ReactNode } from 'react'

type WithoutStyleProps<P> = Omit<ComponentPropsWithRef<'a'>, keyof P>

// The `a` element makes it a link.
const ButtonAsLink = (props: ButtonProps & WithoutStyleProps<ButtonProps>) => (
  <Button component="a" {...props} />
)

/** Mantine components as router links. The compiler checks `to` and `params` against the routes. */
export const LinkAnchor = createLink(Anchor<'a'>)
export const LinkButton = createLink(ButtonAsLink)

export const SessionLink = ({ id, name, ...anchor }: AnchorProps & { id: string; name: ReactNode }) => (
  <LinkAnchor to="/sessions/$sessionId" params={{ sessionId: id }} {...anchor}>
    {name}
  </LinkAnchor>
)

/** Returns the address if it is http or https. User input may contain `javascript:` addresses. */
export function webAddress(text: string): string | undefined {
  const url = URL.parse(text)
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url.href : undefined
}
