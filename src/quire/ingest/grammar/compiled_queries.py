"""Queries for compiled languages: definitions, names and references.

One query for each language. `definitions.py` lists the captures. There are no predicates (`#eq?`):
they take longer than everything else together.
"""

from __future__ import annotations

GO = """
(type_spec name: (_) @name type: (struct_type)) @class
(type_spec name: (_) @name type: (interface_type)) @interface
(type_spec name: (_) @name type: [(type_identifier) (qualified_type) (pointer_type) (map_type)
  (slice_type) (array_type) (channel_type) (function_type) (generic_type)]) @type
(type_alias name: (_) @name) @type
(type_spec type: (struct_type (field_declaration_list) @body))
(type_spec type: (interface_type "{" @body))
(type_declaration . "type" . [(type_spec) (type_alias)]) @outer
(method_elem name: (_) @name) @method
(function_declaration name: (_) @name) @function
(function_declaration body: (_) @body)
(method_declaration name: (_) @name) @method
(method_declaration body: (_) @body)
(method_declaration receiver: (parameter_list (parameter_declaration type: [
  (type_identifier) @owner
  (generic_type type: (type_identifier) @owner)
  (pointer_type [(type_identifier) @owner (generic_type type: (type_identifier) @owner)])])))
(comment) @comment
(call_expression function: (identifier) @call)
(call_expression function: (selector_expression field: (_) @call))
(type_identifier) @use
(import_spec path: (_) @import)
"""

RUST = """
(struct_item name: (_) @name) @class
(struct_item body: (_) @body)
(union_item name: (_) @name) @class
(union_item body: (_) @body)
(enum_item name: (_) @name) @class
(enum_item body: (_) @body)
(impl_item type: (_) @name) @class
(impl_item body: (_) @body)
(trait_item name: (_) @name) @interface
(trait_item body: (_) @body)
(type_item name: (_) @name) @type
(mod_item name: (_) @name body: (_) @body) @module
(function_item name: (_) @name) @function
(function_item body: (_) @body)
(function_signature_item name: (_) @name) @function
(macro_definition name: (_) @name) @function
(attribute_item) @decorator
(line_comment) @comment
(block_comment) @comment
(call_expression function: [
  (identifier) @call
  (scoped_identifier name: (_) @call)
  (field_expression field: (field_identifier) @call)
  (generic_function function: [
    (identifier) @call
    (scoped_identifier name: (_) @call)
    (field_expression field: (_) @call)])])
(macro_invocation macro: [(identifier) @call (scoped_identifier name: (_) @call)])
(type_identifier) @use
(use_declaration argument: [(identifier) (scoped_identifier)] @import)
(use_list [(identifier) (scoped_identifier)] @import)
(use_as_clause path: (_) @import)
(scoped_use_list path: (_) @import)
(use_wildcard (_) @import)
(mod_item name: (_) @import !body)
"""

JAVA = """
(class_declaration name: (_) @name body: (_) @body) @class
(enum_declaration name: (_) @name body: (_) @body) @class
(record_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(annotation_type_declaration name: (_) @name body: (_) @body) @interface
(method_declaration name: (_) @name) @method
(method_declaration body: (_) @body)
(constructor_declaration name: (_) @name body: (_) @body) @method
(compact_constructor_declaration name: (_) @name body: (_) @body) @method
(annotation_type_element_declaration name: (_) @name) @method
(field_declaration declarator: (variable_declarator name: (_) @name value:
  (object_creation_expression (class_body) @body))) @class
(enum_constant name: (_) @name body: (_) @body) @class
(annotation) @decorator
(marker_annotation) @decorator
(line_comment) @comment
(block_comment) @comment
(method_invocation name: (_) @call)
(object_creation_expression type: [
  (type_identifier) @call
  (generic_type (type_identifier) @call)
  (scoped_type_identifier (type_identifier) @call .)])
(annotation name: (_) @use)
(marker_annotation name: (_) @use)
(type_identifier) @use
(import_declaration (scoped_identifier) @import)
(import_declaration (identifier) @import)
"""

C_COMMON = """
(struct_specifier name: (_) @name body: (_) @body) @class
(union_specifier name: (_) @name body: (_) @body) @class
(enum_specifier name: (_) @name body: (_) @body) @class
(function_definition declarator: (function_declarator declarator: (_) @name)) @function
(function_definition declarator: (pointer_declarator declarator:
  (function_declarator declarator: (_) @name))) @function
(function_definition declarator: (pointer_declarator declarator: (pointer_declarator declarator:
  (function_declarator declarator: (_) @name)))) @function
(function_definition body: (_) @body)
(type_definition declarator: (type_identifier) @name) @type
(type_definition declarator: (pointer_declarator declarator: (type_identifier) @name)) @type
(type_definition declarator: (function_declarator declarator:
  (parenthesized_declarator (pointer_declarator declarator: (_) @name)))) @type
(preproc_function_def name: (_) @name) @function
(preproc_function_def value: (_) @body)
(comment) @comment
(call_expression function: (identifier) @call)
(call_expression function: (field_expression field: (_) @call))
(type_identifier) @use
(preproc_include path: (_) @import)
"""

# Only outside of functions: inside of them `Cart cart(1);` looks the same.
PROTOTYPES = "".join(
    f"""
({parent} (declaration declarator: (function_declarator declarator: (identifier) @name)) @function)
({parent} (declaration declarator: (pointer_declarator declarator:
  (function_declarator declarator: (identifier) @name))) @function)
"""
    for parent in ("translation_unit", "preproc_ifdef", "preproc_if", "declaration_list")
)

C = f"{C_COMMON}{PROTOTYPES}"

CPP = f"""{C_COMMON}{PROTOTYPES}
(class_specifier name: (_) @name body: (_) @body) @class
(namespace_definition name: (_) @name body: (_) @body) @module
(concept_definition name: (_) @name) @interface
(alias_declaration name: (_) @name) @type
(function_definition declarator: (reference_declarator
  (function_declarator declarator: (_) @name))) @function
(function_definition declarator: (operator_cast) @name) @function
(field_declaration declarator: (function_declarator declarator: (_) @name)) @method
(field_declaration declarator: (pointer_declarator declarator:
  (function_declarator declarator: (_) @name))) @method
(field_declaration declarator: (reference_declarator
  (function_declarator declarator: (_) @name))) @method
(field_declaration_list
  (declaration declarator: (function_declarator declarator: (_) @name)) @method)
(template_declaration) @outer
(call_expression function: (qualified_identifier name: (_) @call))
(call_expression function: (template_function name: (_) @call))
(new_expression type: (type_identifier) @call)
(using_declaration (qualified_identifier) @import)
"""

CSHARP = """
(namespace_declaration name: (_) @name body: (_) @body) @module
(class_declaration name: (_) @name) @class
(class_declaration body: (_) @body)
(struct_declaration name: (_) @name) @class
(struct_declaration body: (_) @body)
(record_declaration name: (_) @name) @class
(record_declaration body: (_) @body)
(enum_declaration name: (_) @name) @class
(enum_declaration body: (_) @body)
(interface_declaration name: (_) @name) @interface
(interface_declaration body: (_) @body)
(delegate_declaration name: (_) @name) @type
(method_declaration name: (_) @name) @method
(method_declaration body: (_) @body)
(constructor_declaration name: (_) @name) @method
(constructor_declaration body: (_) @body)
(destructor_declaration name: (_) @name) @method
(property_declaration name: (_) @name) @method
(property_declaration accessors: (_) @body)
(property_declaration value: (_) @body)
(local_function_statement name: (_) @name) @function
(local_function_statement body: (_) @body)
(attribute_list) @decorator
(comment) @comment
(invocation_expression function: (identifier) @call)
(invocation_expression function: (generic_name . (identifier) @call))
(invocation_expression function: (member_access_expression name: [
  (identifier) @call (generic_name . (identifier) @call)]))
(invocation_expression function: (conditional_access_expression
  (member_binding_expression name: (_) @call)))
(object_creation_expression type: [(identifier) @call (generic_name . (identifier) @call)])
(attribute name: (_) @use)
(base_list [(identifier) @use (generic_name . (identifier) @use)])
(parameter type: [(identifier) @use (generic_name . (identifier) @use)])
(variable_declaration type: [(identifier) @use (generic_name . (identifier) @use)])
(property_declaration type: [(identifier) @use (generic_name . (identifier) @use)])
(method_declaration returns: [(identifier) @use (generic_name . (identifier) @use)])
(type_argument_list (identifier) @use)
(type_parameter_constraint type: (identifier) @use)
(using_directive (qualified_name) @import)
(using_directive (identifier) @import)
"""

KOTLIN = """
(class_declaration "class" name: (_) @name) @class
(class_declaration "interface" name: (_) @name) @interface
(object_declaration name: (_) @name) @class
(companion_object name: (_) @name) @class
(class_declaration [(class_body) (enum_class_body)] @body)
(object_declaration (class_body) @body)
(companion_object (class_body) @body)
(type_alias type: (identifier) @name) @type
(function_declaration name: (_) @name) @function
(function_declaration (function_body) @body)
(function_declaration (user_type . (identifier) @owner) . ".")
(secondary_constructor "constructor" @name) @method
(secondary_constructor (block) @body)
(annotation) @decorator
(line_comment) @comment
(block_comment) @comment
(call_expression . (identifier) @call)
(call_expression . (navigation_expression (identifier) @call .))
(constructor_invocation (user_type (identifier) @use .))
(user_type (identifier) @use .)
(import (qualified_identifier) @import)
"""

SWIFT = """
(class_declaration name: (_) @name) @class
(class_declaration body: (_) @body)
(protocol_declaration name: (_) @name) @interface
(protocol_declaration body: (_) @body)
(typealias_declaration name: (type_identifier) @name) @type
(function_declaration name: (simple_identifier) @name) @function
(function_declaration body: (_) @body)
(protocol_function_declaration name: (simple_identifier) @name) @method
(init_declaration "init" @name) @method
(init_declaration body: (_) @body)
(deinit_declaration "deinit" @name) @method
(deinit_declaration body: (_) @body)
(attribute) @decorator
(comment) @comment
(multiline_comment) @comment
(call_expression . (simple_identifier) @call)
(call_expression . (navigation_expression suffix: (navigation_suffix suffix:
  (simple_identifier) @call)))
(user_type (type_identifier) @use .)
(import_declaration (identifier) @import)
"""

SCALA = """
(class_definition name: (_) @name) @class
(class_definition body: (_) @body)
(object_definition name: (_) @name) @class
(object_definition body: (_) @body)
(enum_definition name: (_) @name) @class
(enum_definition body: (_) @body)
(trait_definition name: (_) @name) @interface
(trait_definition body: (_) @body)
(type_definition name: (_) @name) @type
(function_definition name: (_) @name) @function
(function_definition body: (_) @body)
(function_declaration name: (_) @name) @function
(annotation) @decorator
(comment) @comment
(block_comment) @comment
(call_expression function: [
  (identifier) @call
  (field_expression field: (_) @call)
  (generic_function function: [(identifier) @call (field_expression field: (_) @call)])])
(instance_expression [(type_identifier) @call (generic_type type: (type_identifier) @call)])
(type_identifier) @use
(import_declaration) @import
(namespace_selectors (identifier) @import)
(namespace_selectors (arrow_renamed_identifier name: (_) @import))
"""
