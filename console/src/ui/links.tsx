import { Anchor, Button, type ButtonProps, Card, type CardProps, NavLink } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { ComponentProps } from 'react'

type AnchorOf<P> = P & Omit<ComponentProps<'a'>, keyof P>

// Neither is a link by itself.
const ButtonAnchor = (props: AnchorOf<ButtonProps>) => <Button component="a" {...props} />
const CardAnchor = (props: AnchorOf<CardProps>) => <Card component="a" {...props} />

/** Mantine's parts as links of the router; `to` and `params` are checked against the routes there are. */
export const LinkAnchor = createLink(Anchor<'a'>)
export const LinkButton = createLink(ButtonAnchor)
export const LinkCard = createLink(CardAnchor)
export const LinkNav = createLink(NavLink<'a'>)
