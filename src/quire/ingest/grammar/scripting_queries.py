"""Queries for scripting and query languages: definitions, names and references.

One query for each language. `definitions.py` lists the captures. There are no predicates (`#eq?`):
they take longer than everything else together.
"""

from __future__ import annotations

PYTHON = """
(class_definition name: (_) @name body: (_) @body) @class
(function_definition name: (_) @name body: (_) @body) @function
(type_alias_statement left: (type (_) @name)) @type
(decorated_definition) @outer
(decorator) @decorator
(comment) @comment
(module . (comment)* . (expression_statement . (string) @doc))
(class_definition body: (block . (expression_statement . (string) @doc)))
(function_definition body: (block . (expression_statement . (string) @doc)))
(call function: [(identifier) @call (attribute attribute: (identifier) @call)])
(decorator [(identifier) @use (attribute attribute: (identifier) @use)])
(class_definition superclasses: (argument_list [
  (identifier) @use
  (attribute attribute: (identifier) @use)
  (keyword_argument value: (identifier) @use)
  (subscript value: (identifier) @use)]))
(type (identifier) @use)
(type (attribute attribute: (identifier) @use))
(type (generic_type (identifier) @use))
(type (binary_operator (identifier) @use))
(import_statement name: (dotted_name) @import)
(import_statement name: (aliased_import name: (dotted_name) @import))
(import_from_statement module_name: (_) @import)
(import_from_statement name: (dotted_name) @import)
(import_from_statement name: (aliased_import name: (dotted_name) @import))
"""

SCRIPT = """
(class_declaration name: (_) @name body: (_) @body) @class
(function_declaration name: (_) @name body: (_) @body) @function
(generator_function_declaration name: (_) @name body: (_) @body) @function
(method_definition name: (_) @name body: (_) @body) @method
(variable_declarator name: (identifier) @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
  (generator_function body: (_) @body)]) @function
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @class
(assignment_expression left: [(member_expression) (identifier)] @name right: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
  (generator_function body: (_) @body)]) @function
(pair key: (property_identifier) @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)]) @function
(export_statement) @outer
(decorator) @decorator
(comment) @comment
(call_expression function: [(identifier) @call (member_expression property: (_) @call)])
(new_expression constructor: [(identifier) @call (member_expression property: (_) @call)])
(decorator (identifier) @use)
(import_statement source: (string) @import)
(export_statement source: (string) @import)
(import_clause (identifier) @import)
(import_specifier name: (identifier) @import)
(call_expression function: (import) arguments: (arguments . (string) @import))
(call_expression function: (identifier) arguments: (arguments . (string) @required))
"""

JSX = """
(jsx_opening_element name: (identifier) @element)
(jsx_self_closing_element name: (identifier) @element)
"""

JAVASCRIPT = f"""{SCRIPT}{JSX}
(field_definition property: (_) @name value: (arrow_function body: (_) @body)) @method
(class_heritage (identifier) @use)
(class_heritage (member_expression property: (_) @use))
"""

TYPESCRIPT = f"""{SCRIPT}
(abstract_class_declaration name: (_) @name) @class
(abstract_class_declaration body: (_) @body)
(interface_declaration name: (_) @name) @interface
(interface_declaration body: (_) @body)
(enum_declaration name: (_) @name) @class
(enum_declaration body: (_) @body)
(type_alias_declaration name: (_) @name) @type
(internal_module name: (_) @name) @module
(internal_module body: (_) @body)
(module name: (_) @name) @module
(module body: (_) @body)
(function_signature name: (_) @name) @function
(method_signature name: (_) @name) @method
(abstract_method_signature name: (_) @name) @method
(public_field_definition name: (_) @name value: (arrow_function body: (_) @body)) @method
(ambient_declaration) @outer
(class_heritage (extends_clause value: (identifier) @use))
(class_heritage (extends_clause value: (member_expression property: (_) @use)))
(type_identifier) @use
"""

RUBY = """
(module name: (_) @name) @module
(module body: (_) @body)
(class name: (_) @name) @class
(class body: (_) @body)
(method name: (_) @name) @function
(method body: (_) @body)
(singleton_method name: (_) @name) @function
(singleton_method body: (_) @body)
(comment) @comment
(call method: (identifier) @call)
(call method: (constant) @call)
(superclass [(constant) @use (scope_resolution name: (_) @use)])
(call !receiver method: (identifier) arguments: (argument_list . [(constant)
  (scope_resolution)] @mixed))
(call !receiver method: (identifier) arguments: (argument_list . (string) @required))
"""

PHP = """
(namespace_definition name: (_) @name body: (_) @body) @module
(class_declaration name: (_) @name body: (_) @body) @class
(enum_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(trait_declaration name: (_) @name body: (_) @body) @interface
(method_declaration name: (_) @name) @method
(method_declaration body: (_) @body)
(function_definition name: (_) @name body: (_) @body) @function
(attribute_list) @decorator
(comment) @comment
(function_call_expression function: [(name) @call (qualified_name (name) @call)])
(member_call_expression name: (name) @call)
(nullsafe_member_call_expression name: (name) @call)
(scoped_call_expression name: (name) @call)
(object_creation_expression [(name) @call (qualified_name (name) @call)])
(attribute [(name) @use (qualified_name (name) @use)])
(base_clause [(name) @use (qualified_name (name) @use)])
(class_interface_clause [(name) @use (qualified_name (name) @use)])
(use_declaration [(name) @use (qualified_name (name) @use)])
(named_type [(name) @use (qualified_name (name) @use)])
(namespace_use_clause . (_) @import)
(require_expression (string) @import)
(require_once_expression (string) @import)
(include_expression (string) @import)
(include_once_expression (string) @import)
"""

BASH = """
(function_definition name: (_) @name body: (_) @body) @function
(comment) @comment
(command name: (command_name . (word) @call .))
(command name: (command_name) . argument: (_) @required)
"""

SQL = """
(create_table (object_reference) @name) @type
(create_table (column_definitions) @body)
(create_view . _* . (object_reference) @name) @type
(create_view (create_query) @body)
(create_materialized_view . _* . (object_reference) @name) @type
(create_type (object_reference) @name) @type
(create_function . _* . (object_reference) @name) @function
(create_function (function_body) @body)
(create_schema (identifier) @name) @module
(statement [(create_table) (create_view) (create_materialized_view) (create_type)
  (create_function) (create_schema)]) @outer
(comment) @comment
(marginalia) @comment
(invocation . (object_reference name: (_) @call))
(relation (object_reference name: (_) @use))
(insert (object_reference name: (_) @use))
(column_definition (object_reference name: (_) @use))
"""
