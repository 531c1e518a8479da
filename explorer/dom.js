"use strict";
// What all parts of the page use: its data, and its elements.

const data = JSON.parse(document.getElementById("data").textContent);

const $ = (id) => document.getElementById(id);

/** A new element with these properties (and `attributes`) and children. */
function element(tag, { attributes = {}, ...properties } = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
