// The stylesheets of the elements.

import { unsafeCSS } from 'lit';
import own from './styles/element.css?inline';
import parts from './styles/parts.css?inline';
import plain from './styles/plain.css?inline';
import theme from './styles/theme.css?inline';

export const styles = [theme, plain, parts, own].map((text) => unsafeCSS(text));
