/* SPDX-License-Identifier: Apache-2.0 */
/* elements from texts: a text of a robot never becomes markup, as it is set as text only */
"use strict";
const Dom = {
  /* a new element: attributes, and children that are elements or texts; null is left out */
  make(name, attributes, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {}))
      if (value != null) element.setAttribute(key, value);
    element.append(...children.filter(child => child != null));
    return element;
  },
  /* replaces all children */
  fill(element, ...children) {
    element.replaceChildren(...children.filter(child => child != null));
    return element;
  },
};
